"""Missing cells filled by the model that fills left-out cells best; multiple imputation; the record of the choice."""
