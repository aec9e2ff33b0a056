/** `high` from 50 %, `low` below 10 %. */
export type Likelihood = 'high' | 'middle' | 'low'

/** Classifies a log probability. */
export function likelihoodOf(logprob: number): Likelihood {
  const probability = Math.exp(logprob)
  if (probability >= 0.5) return 'high'
  return probability >= 0.1 ? 'middle' : 'low'
}

/** Formats a log probability as `98.2 %` or `<0.1 %`. */
export function formatProbability(logprob: number): string {
  const percent = Math.exp(logprob) * 100
  if (percent < 0.05) return '<0.1 %'
  return `${percent.toFixed(1)} %`
}

/** Makes invisible characters of a token visible. */
export function visibleToken(token: string): string {
  return token === ''
    ? '(empty)'
    : token
        .replaceAll('\n', '⏎')
        .replaceAll('\t', '⇥')
        .replaceAll('\r', '␍')
        .replace(/^ +| +$/g, (spaces) => '␣'.repeat(spaces.length))
}
