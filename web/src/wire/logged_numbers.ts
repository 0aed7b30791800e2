// SPDX-License-Identifier: MIT
// Names under which training loops log numbers of their own, `flightdeck run` among them, and which
// have a place in a panel. Other names get a panel each.

/** Settings of the optimizer that may change on the way. */
export const HYPERPARAMETERS = [
  'learning_rate', 'momentum', 'weight_decay', 'batch_size', 'beta1', 'beta2', 'epsilon', 'damping', 'dropout',
  'clip_norm', 'temperature',
];

/** What the model achieves. */
export const SCORES = [
  'batch_accuracy', 'train_loss', 'valid_loss', 'test_loss', 'train_accuracy', 'valid_accuracy', 'test_accuracy',
];

/** Of a run of several processes, each with a group for every rank; the last ones of all ranks together. */
export const RANKS = ['rank_loss', 'rank_grad_norm', 'rank_time', 'rank_drift', 'rank_twins', 'rank_streams', 'rank_overlap'];

/** Lists of samples, and what these look like. */
export const SAMPLES = ['misclassified', 'sample_pictures'];

/** What a run leaves at its end. */
export const ENDS = ['final_parameters'];
