/** How likely a token was: `high` from a half, `low` below a tenth. */
export type Likelihood = 'high' | 'middle' | 'low'

/** The likelihood that a log probability stands for. */
export function likelihoodOf(logprob: number): Likelihood {
  const probability = Math.exp(logprob)
  if (probability >= 0.5) return 'high'
  return probability >= 0.1 ? 'middle' : 'low'
}

/** As in `98.2 %`, `<0.1 %`. */
export function formatProbability(logprob: number): string {
  const percent = Math.exp(logprob) * 100
  if (percent < 0.05) return '<0.1 %'
  return `${percent.toFixed(1)} %`
}

/** A token so that what cannot be seen in it can. */
export function visibleToken(token: string): string {
  return token === ''
    ? '(empty)'
    : token
        .replaceAll('\n', '⏎')
        .replaceAll('\t', '⇥')
        .replaceAll('\r', '␍')
        .replace(/^ +| +$/g, (spaces) => '␣'.repeat(spaces.length))
}
