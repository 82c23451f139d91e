"""Variational autoencoders: a distribution of codes for each row, and a model to draw rows from."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim.latent.networks import _incomplete as incomplete
from lowdim.latent.networks import _network as network
from lowdim.latent.networks import _settings as settings
from lowdim.latent.networks import _torch
from lowdim.latent.networks._checkpoint import Checkpoint, Trained
from lowdim.latent.networks._evidence import LEAST, WIDEST, Evidence, check_shares, divergence, log_likelihood
from lowdim.latent.networks._levels import Levels
from lowdim.latent.networks._network import ACTIVATIONS, Network
from lowdim.latent.networks._rows import Scaling, rounded_and_sorted
from lowdim.latent.networks._train import SCHEDULES, Training, train
from lowdim.latent.networks.in_blocks.further import TrainsFurther
from lowdim.latent.networks.in_blocks.trainer import TrainsBlocks

COLLAPSED = 0.01  # KL of a unit below which it carries no information about the row
DRAWS = 20  # of the code of each row, for `elbo_`


class VAE(TrainsFurther, TrainsBlocks, Reducer):
    """Variational autoencoder: a Gaussian of codes for each row, q(z|x) = N(m(x), s²(x)), and of rows, p(x|z).

    Encoder (m and log s²) and decoder are networks, trained together to maximise the evidence lower bound (ELBO), which
    is at most the log-likelihood of the row:

        E_q log p(x|z) - beta KL(q(z|x) || N(0, I)),   KL = sum over units (m² + s² - log s² - 1) / 2

    With linear networks and beta = 1 the best bound is the log-likelihood of probabilistic PCA. Fitting needs PyTorch;
    a fitted model does not.

    Parameters
    ----------
    n_components : int
        Number of codes.
    hidden : int, tuple of ints or None
        Widths of the encoder's hidden layers; the decoder has them in reverse. None is two layers of 4 and 2 times the
        columns, at most 256 and 64. () has none.
    activation : {"tanh", "sigmoid", "relu", "elu", "softplus", "linear"}
        Activation function of the hidden layers.
    likelihood : {"gaussian", "bernoulli"}
        p(x|z): a Gaussian about the decoded row with one noise variance that is learned, or independent Bernoulli
        variables for cells from 0 to 1, such as pixels.
    beta : float
        Weight of the KL divergence: above 1 fewer units are used, below 1 rows are reconstructed more closely.
    weight_decay : float
        Penalty on squared weights.
    scale : bool
        Divide each column by its standard deviation; otherwise all by one number. Rows are centred in any case. Rows
        for "bernoulli" are taken as they are.
    batch_size : int
        Rows of a mini-batch.
    learning_rate : float
        Step size of Adam. Where the loss diverges, training goes on from the best weights with a tenth of it, with a
        warning.
    schedule : {"plateau", "cosine", "constant"}
        How the learning rate decreases: to a quarter at a plateau (see `patience`), three times, until training ends at
        the fourth; to 0 along a cosine until `max_iter`, or to the first plateau; or not, to the first plateau.
    held_out : float
        Share of the rows that is not trained on: training stops when their bound stops rising, and the weights with the
        highest bound on them are kept. 0 trains on all rows.
    patience : int
        Epochs over which a plateau is seen: their mean bound is compared with that of as many before them. Of small
        tables at least 100 steps.
    checkpoint : str, path or None
        File for the state of the training; see `Autoencoder`.
    missing : {"iterative", "multiple", "error"}
        Missing cells (NaN), at fit and in new rows: training counts the observed cells only. The bound is
        that of their likelihood; until it knows better, the encoder sees the column means in the place of the others.
        "iterative": the code of an incomplete row is the one whose decoded row fits its observed cells best, given how
        the codes of the fitted rows are distributed. "multiple": missing cells are drawn 40 times from the decoded row
        and its noise, each time encoded, and the codes averaged. On hidden cells of curved tables and of digits the
        first is better. "error": refuse them.
    n_init : int
        Number of starts; the best result is kept.
    max_iter : int
        Maximum number of iterations (epochs) of a start.
    tol : float
        Convergence tolerance: a fiftieth of the share of all that training has gained by which the bound must rise in
        `patience` epochs.
    callback : callable or None
        Called as ``callback(step, loss, state)``; returning True stops the fit. After every epoch, of all starts in
        turn; `loss` is minus the bound in scaled units, `state` the means m of the codes of all rows so far.
    device : str
        "auto" (a GPU where there is one), "cpu", "cuda", ...
    random_state : int, generator or None
        Seed; the same int gives the same result.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it. Above a million cells they agree only
        within the rounding of PyTorch's matrix products.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The means m of the codes.
    completed_ : ndarray or None
        The rows with their missing cells filled in by the decoder, the others as given; None without missing cells.
    elbo_ : float
        Mean evidence lower bound (with beta = 1) of the fitted rows, in nats and units of X, from 20 draws a row.
    kl_ : ndarray of shape (n_components,)
        Mean KL divergence of each unit: how much information it has about a row, in nats.
    collapsed_ : ndarray of bool of shape (n_components,)
        Units whose KL is below 0.01 (posterior collapse): the decoder ignores them.
    noise_variance_ : float or None
        Of a cell about the decoded row, in scaled units; None for "bernoulli".
    encoder_weights_, encoder_biases_, decoder_weights_, decoder_biases_ : list of ndarrays
        Of each layer, in scaled units; the encoder's last one gives m, then log s².
    loss_curve_, held_out_curve_ : ndarray
        Minus the bound after each epoch, in scaled units, of the rows trained on and of those held out.
    restart_losses_ : ndarray of shape (n_init,)
        The loss by which the starts are compared, of held-out rows where there are any.
    reconstruction_error_ : float
        Mean squared error of a cell decoded from m, in units of X.
    n_weights_ : int
        Number of parameters.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from the columns, and what they are divided by.
    device_ : str
        The device that was used.
    n_iter_ : int
        Number of epochs of the start that was kept.
    converged_ : bool
        Whether training ended at a plateau; False, with a warning, where `max_iter` ended it, also under a cosine, and
        where the callback stopped it.

    References
    ----------
    Kingma and Welling, Auto-encoding variational Bayes, 2014. Higgins and others, beta-VAE, 2017. Lucas, Tucker, Grosse
    and Norouzi, Don't blame the ELBO! A linear VAE perspective on posterior collapse, 2019.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(300, random_state=0).X
    >>> model = lowdim.VAE(2, hidden=16, tol=1e-3, random_state=0).fit(X)
    >>> model.transform(X[:5]).shape, model.posterior_spread(X[:5]).shape, model.sample(3, random_state=0).shape
    ((5, 2), (5, 2), (3, 3))
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "hidden": settings.sizes() | params.none(),
        "activation": params.one_of(*ACTIVATIONS),
        "likelihood": params.one_of("gaussian", "bernoulli"),
        "beta": params.real(0),
        "weight_decay": params.real(0),
        "scale": params.flag(),
        "batch_size": params.whole(1),
        "learning_rate": params.real(0, open_low=True),
        "schedule": params.one_of(*SCHEDULES),
        "held_out": params.real(0, 1, open_high=True),
        "patience": params.whole(1),
        "checkpoint": settings.path() | params.none(),
        "missing": params.one_of(*incomplete.POLICIES, "error"),
        "device": params.text(),
    }
    _block_rows = 16384
    _ways_out = "Fit on a sample of the rows and transform the others."
    _reproduces_rows = True
    _hole_policies = incomplete.POLICIES
    _parts: Any = None  # what incomplete rows are encoded with; None in models of earlier releases

    def __init__(
        self,
        n_components=2,
        *,
        hidden=None,
        activation="tanh",
        likelihood="gaussian",
        beta=1.0,
        weight_decay=0.0,
        scale=False,
        batch_size=256,
        learning_rate=5e-3,
        schedule="plateau",
        held_out=0.1,
        patience=50,
        checkpoint=None,
        missing="iterative",
        n_init=1,
        max_iter=3000,
        tol=1e-5,
        callback=None,
        device="auto",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.hidden = hidden
        self.activation = activation
        self.likelihood = likelihood
        self.beta = beta
        self.weight_decay = weight_decay
        self.scale = scale
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.held_out = held_out
        self.patience = patience
        self.checkpoint = checkpoint
        self.missing = missing
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def posterior_spread(self, X: Any) -> np.ndarray:
        """Posterior standard deviations of the codes of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        s : ndarray of shape (n_samples, n_components)
            Standard deviations s about the means `transform(X)`.
        """
        check_is_fitted(self)
        X, dtype = self._check_rows(X, fitting=False)
        return np.exp(0.5 * self._posterior(X)[1]).astype(dtype)

    def elbo(self, X: Any, n_draws: int = 20, random_state: Any = 0) -> np.ndarray:
        """Evidence lower bound of each row (with beta = 1): at most its log-likelihood, in units of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        n_draws : int
            Draws of a code for each row.
        random_state : int, generator or None
            Seed of the draws.

        Returns
        -------
        bound : ndarray of shape (n_samples,)
            In nats.
        """
        check_is_fitted(self)
        X, _ = self._check_rows(X, fitting=False)
        if self.noise_variance_ is None:
            check_shares(X)
        return self._bound(X, _whole("n_draws", n_draws), generator(random_state))

    def sample(self, n_samples: int = 1, random_state: Any = None, noise: bool = False) -> np.ndarray:
        """Draw new rows: codes from N(0, I), decoded.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        random_state : int, generator or None
            Seed of the draws.
        noise : bool
            Add the noise of the model to the decoded rows; otherwise these are the means of p(x|z).

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The rows.
        """
        check_is_fitted(self)
        rng = generator(random_state)
        X = self._invert(rng.standard_normal((_whole("n_samples", n_samples), self._n_features_out)))
        if noise and self.noise_variance_ is not None:
            X = X + np.sqrt(self.noise_variance_) * self.scale_ * rng.standard_normal(X.shape)
        elif noise:
            X = rng.random(X.shape) < X
        return X.astype(self.embedding_.dtype)

    def _embed(self, X: np.ndarray) -> np.ndarray:
        self._n_features_out, rng = self.n_components, generator(self.random_state)
        self._check(X.shape[1])
        scaling = self._scaling(X)
        rows, order = rounded_and_sorted(scaling(X))
        self.mean_, self.scale_ = scaling.mean, scaling.scale

        loss = self._loss(X.shape[1], np.nanmean(rows, axis=0) if self._incomplete else None)
        self.device_ = _torch.device(self.device, "VAE")
        checkpoint = Checkpoint.of(self.checkpoint, "VAE", self.get_params(deep=False), rows)
        found = train(loss, rows, order, self._training(), checkpoint, rng, **self._reading(scaling))
        self._keep(loss, found)
        self._keep_prior(rows)
        Z = self._described(X, found, order, rng)
        self._warn_of_collapse()
        return Z

    def partial_fit(self, X: Any, y: Any = None) -> VAE:
        """One more epoch of Adam, over one more batch of rows, from the weights that the model has.

        It goes on from any earlier `partial_fit` or `fit`, also of a model that was loaded from a file. The first batch
        of a new model gives the means and scales of the columns, so it should be like all of them. Give batches in
        mixed order, each as often as wished: the model has no memory of earlier ones but its weights. Units that
        collapsed are in `collapsed_`, without a warning, as the first batches teach little.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Complete rows.
        y : None
            Ignored; there for pipelines.

        Returns
        -------
        self : VAE
            Its embedding, bound and errors are those of this batch.
        """
        return self._fit_one_more(X)

    def _described(self, X: np.ndarray, found: Trained, order: np.ndarray, rng: Any = None) -> np.ndarray:
        """The means of the codes of the rows; the bound and what codes say about rows are kept."""
        rng, blocks = generator(self.random_state) if rng is None else rng, threads.blocks(len(X), self._block_rows)
        Z, log_variance = (np.concatenate(p) for p in zip(*(self._posterior(X[b]) for b in blocks), strict=True))
        self.kl_ = divergence(Z, log_variance).mean(axis=0)
        self.collapsed_ = self.kl_ < COLLAPSED
        self.elbo_ = float(np.concatenate([self._bound(X[block], DRAWS, rng) for block in blocks]).mean())
        cells = (~np.isnan(X)).sum(axis=1)
        self.reconstruction_error_ = float(np.average(network.row_errors(X, Z, self._invert), weights=cells))
        self.completed_ = incomplete.completed(X, self._invert(Z)) if self._incomplete else None
        return Z

    def _training(self) -> Training:
        return settings.training_of("VAE", self.get_params(deep=False), self.device_)

    def _loss(self, d: int, fill: np.ndarray | None = None) -> Evidence:
        return Evidence("VAE", *self._networks(d), self._bernoulli(), self.beta, self.weight_decay, fill)

    def _others(self) -> np.ndarray:
        return np.array([0.0 if self.noise_variance_ is None else np.log(self.noise_variance_)])

    def _check(self, d: int) -> None:
        settings.warn_overcomplete("VAE", self.n_components, d)

    def _keep(self, loss: Evidence, found: Trained) -> None:
        encoder, decoder, log_noise = loss.split(found.x.astype(np.float64))
        self._encoder = (loss.encoder.sizes, loss.encoder.activations)
        self._decoder = (loss.decoder.sizes, loss.decoder.activations)
        self.encoder_weights_, self.encoder_biases_ = network.weights_and_biases(encoder)
        self.decoder_weights_, self.decoder_biases_ = network.weights_and_biases(decoder)
        self.n_weights_ = len(found.x)
        self.noise_variance_ = None if loss.bernoulli else float(np.exp(max(log_noise, LEAST)))
        self.loss_curve_, self.held_out_curve_, self.restart_losses_ = found.losses, found.held, found.restarts
        self.n_iter_, self.converged_ = len(found.losses), found.converged

    def _warn_of_collapse(self) -> None:
        if self.collapsed_.any():
            warn(
                f"VAE: {int(self.collapsed_.sum())} of {len(self.kl_)} units collapsed (KL < {COLLAPSED}): their codes "
                "carry no information about the rows. Ask for fewer components, lower beta, or train longer."
            )

    def _bernoulli(self) -> bool:
        return self.likelihood == "bernoulli"

    def _scaling(self, X: np.ndarray) -> Scaling:
        if not self._bernoulli():
            return self._scaling_of(X, self.scale)
        check_shares(X if self._blocks is None else np.array([self._blocks.sums.low, self._blocks.sums.high]))
        return Scaling(np.zeros(X.shape[1]), np.ones(X.shape[1]))

    def _networks(self, d: int) -> tuple[Network, Network]:
        widths, k = settings.deep_widths(self.hidden, d), self.n_components
        return Network.of((d, *widths, 2 * k), self.activation), Network.of((k, *widths[::-1], d), self.activation)

    def _keep_prior(self, rows: np.ndarray) -> None:
        """What incomplete rows are encoded with, at fit and later; the prior of the codes is that of the model."""
        noise = 1.0 if self.noise_variance_ is None else self.noise_variance_
        self._parts = {"policy": self.missing, "noise": noise, "fill": np.nanmean(rows, axis=0)}
        codes, _ = incomplete.reference(self._coder(), rows)
        k = self._n_features_out
        self._parts |= incomplete.prior(codes, noise) | {"center": np.zeros(k), "spread": np.ones(k)}

    def _coder(self) -> incomplete.Coder:
        parts, k = self._parts, self._n_features_out
        first, second, bernoulli = Network(*self._encoder), Network(*self._decoder), self.noise_variance_ is None
        encoder = list(zip(self.encoder_weights_, self.encoder_biases_, strict=True))
        decoder = list(zip(self.decoder_weights_, self.decoder_biases_, strict=True))
        refine = None
        if "center" in parts and not bernoulli:
            refine = incomplete.refining(second, decoder, Levels.of(k, False, None, False), parts)

        def encode(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            output = first(encoder, rows)
            return output[:, :k], np.clip(output[:, k:], -WIDEST, WIDEST)

        def decode(codes: np.ndarray) -> np.ndarray:
            return expit(second(decoder, codes)) if bernoulli else second(decoder, codes)

        cells = incomplete.bernoulli_cells if bernoulli else incomplete.gaussian_cells(parts["noise"])
        return incomplete.Coder(encode, decode, cells, parts["fill"], refine)

    def _posterior(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = Scaling(self.mean_, self.scale_)(X.astype(np.float64))
        return incomplete.all_codes(self._coder, self._encoded, rows, self._parts, self.n_jobs)

    def _encoded(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        net, k = Network(*self._encoder), self._n_features_out
        output = network.run(net, self.encoder_weights_, self.encoder_biases_, rows, self.n_jobs)
        return output[:, :k], np.clip(output[:, k:], -WIDEST, WIDEST)

    def _decoded(self, Z: np.ndarray) -> np.ndarray:
        net = Network(*self._decoder)
        return network.run(net, self.decoder_weights_, self.decoder_biases_, Z, self.n_jobs)

    def _bound(self, X: np.ndarray, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        mean, log_variance = self._posterior(X)
        rows = Scaling(self.mean_, self.scale_)(X.astype(np.float64))
        total = np.zeros(len(X))
        for _ in range(n_draws):
            output = self._decoded(mean + np.exp(0.5 * log_variance) * rng.standard_normal(mean.shape))
            total += log_likelihood(output, rows, self.noise_variance_, self.scale_)
        return total / n_draws - divergence(mean, log_variance).sum(axis=1)

    def _extend(self, X: np.ndarray) -> np.ndarray:
        return self._posterior(X)[0]

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        output = self._decoded(Z.astype(np.float64))
        return expit(output) if self.noise_variance_ is None else Scaling(self.mean_, self.scale_).undo(output)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        encoder, decoder = self._networks(d)
        layers = 8 * 4 * min(n, self.batch_size) * (sum(encoder.sizes) + sum(decoder.sizes))
        weights = settings.optimiser_bytes(n, d, encoder.n_parameters + decoder.n_parameters)
        return {"scaled rows": 19 * n * d, "codes": 32 * n * self.n_components, "layers": layers, "weights": weights}


def _whole(name: str, value: Any) -> int:
    if not params.whole(1).accepts(value):
        raise ValueError(f"VAE: {name} must be a whole number >= 1; got {value!r}.")
    return int(value)
