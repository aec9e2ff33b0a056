import { language } from '../texts/locale.ts'
import { say } from '../texts/say.ts'

/** `high` from 50 %, `low` below 10 %. */
export type Likelihood = 'high' | 'middle' | 'low'

/** Classifies a log probability. */
export function likelihoodOf(logprob: number): Likelihood {
  const probability = Math.exp(logprob)
  if (probability >= 0.5) return 'high'
  return probability >= 0.1 ? 'middle' : 'low'
}

const tenths = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 })

/** Formats a log probability as `98.2 %` or `<0.1 %`. */
export function formatProbability(logprob: number): string {
  const percent = Math.exp(logprob) * 100
  return percent < 0.05 ? `<${tenths.format(0.1)} %` : `${tenths.format(percent)} %`
}

/** Makes invisible characters of a token visible. */
export function visibleToken(token: string): string {
  return token === ''
    ? say.chat.emptyToken
    : token
        .replaceAll('\n', '⏎')
        .replaceAll('\t', '⇥')
        .replaceAll('\r', '␍')
        .replace(/^ +| +$/g, (spaces) => '␣'.repeat(spaces.length))
}
