// SPDX-License-Identifier: MIT
// Losses and accuracies by what they are of. The loss that a cockpit tracks is the mean of the
// individual losses; evaluations are of the objective, with the L2 penalty where the problem has one.

const OF: Readonly<Record<string, string>> = {loss: 'mini-batch', batch_accuracy: 'mini-batch', train_loss: 'training',
  train_accuracy: 'training', valid_loss: 'validation', valid_accuracy: 'validation', test_loss: 'test', test_accuracy: 'test'};

/** Of the losses: 'with penalty' or 'without penalty'; empty where there is no penalty or no loss. */
function penalty(name: string, config: Readonly<Record<string, string>>): string {
  if (!name.endsWith('loss') || !(Math.abs(Number(config['l2'] ?? 0)) > 0)) return '';
  return name === 'loss' ? ' without penalty' : ' with penalty';
}

/** As a line of the panel that shows them all: 'mini-batch', 'training with penalty'. */
export function scorePart(name: string, config: Readonly<Record<string, string>>): string {
  return `${OF[name] ?? name}${penalty(name, config)}`;
}

/** By itself: 'Mini-batch loss without penalty'. Undefined if it is no loss or accuracy that is known. */
export function scoreName(name: string, config: Readonly<Record<string, string>>): string | undefined {
  const part = Object.hasOwn(OF, name) ? OF[name] as string : undefined;
  if (part === undefined) return undefined;
  return `${part.charAt(0).toUpperCase()}${part.slice(1)} ${name.endsWith('loss') ? 'loss' : 'accuracy'}${penalty(name, config)}`;
}
