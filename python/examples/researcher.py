# SPDX-License-Identifier: MIT
"""Questions about one batch, as plain tensors."""

import torch

import flightdeck

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
inputs, labels = torch.randn(20, 6), torch.randint(0, 3, (20,))
losses = torch.nn.functional.cross_entropy(model(inputs), labels, reduction="none")
batch = flightdeck.Batch(losses, model)  # all questions share one reading of the graph

answers = flightdeck.gradients(batch, what=["individual", "norms", "variance"])
for parameter in answers:
    print(parameter.name, tuple(parameter.individual.shape), float(parameter.norms.max()))

curvature = flightdeck.curvature(batch, what=["diag_ggn", "kfac", "trace_hessian"])
print("trace of the Hessian:", float(curvature.total.trace_hessian))
print("largest of the GGN's diagonal:", float(curvature.concatenated("diag_ggn").max()))

hessian = flightdeck.curvature_operator(batch)
pairs = flightdeck.eigenpairs(hessian, largest=2, smallest=1)
print("eigenvalues:", [round(value, 4) for value in pairs.values.tolist()])

step = flightdeck.conjugate_gradients(
    flightdeck.curvature_operator(batch, kind="ggn").damped(0.1), -hessian.gradient()
)
print("a Newton step has length", float(step.vectors.norm()))

vivit = flightdeck.Vivit(batch)
print("rank of the GGN:", vivit.rank(), "leading curvature of each sample:", vivit.lambdas(1).shape)
print(flightdeck.coverage(batch))
