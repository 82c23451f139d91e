"""The same stages on a GPU, through PyTorch: nothing here is loaded before a method is asked to run there.

Functions take a `Device` and give tensors or numpy arrays. They run on tensors of the CPU as well, which is how they
are tested against the compiled core. Two rules hold everywhere. *Same seed, same bits*: no floating-point number is
added by atomic operations; rows are summed in order, and what must be scattered is added as whole numbers. *Products
propose, differences decide*: matrix products in single precision find candidates, whose distances are measured again
in double.
"""
