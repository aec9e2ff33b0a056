import type { TextRule } from '../../base/text-rule.ts'
import { compilePattern, PatternError, patternLengthMax } from '../../content/pattern.ts'
import { subjectText, type ContentRule } from '../../limits/access-policy.ts'
import { listShape, objectShape } from '../../shapes/containers.ts'
import { forRepeats, memberNode } from '../../shapes/node.ts'
import { mapShape, refuseNode, textShape, withSchema, type ValueShape } from '../../shapes/shape.ts'
import { callerPattern, subjectShape, type NamesOfFile } from './read-limits.ts'

/** States of all patterns of a rule. */
const statesMax = 2_000

const keepRule: TextRule = {
  allowed: 'hours or days such as "12h" or "7d", at most 366 days, or "0d" to keep nothing',
  pattern: /^(?:0|[1-9]\d{0,3})[hd]$/,
  lengthMax: 64,
}
const dayMs = 86_400_000
const keepMsMax = 366 * dayMs

const keep = withSchema(
  mapShape(textShape(keepRule), (text, node, faults) => {
    const ms = Number(text.slice(0, -1)) * (text.endsWith('d') ? dayMs : 3_600_000)
    return ms <= keepMsMax ? ms : refuseNode(node, keepRule.allowed, faults)
  }),
  {
    // At most 366 days.
    pattern:
      '^(?:(?:0|[1-9]\\d?|[12]\\d\\d|3[0-5]\\d|36[0-6])d|' +
      '(?:0|[1-9]\\d{0,2}|[1-7]\\d{3}|8[0-6]\\d\\d|87[0-7]\\d|878[0-4])h)$',
  },
)

const pattern = mapShape(
  textShape({ allowed: 'a pattern of the text to be removed', pattern: /./s, lengthMax: patternLengthMax }),
  (source, node, faults) => {
    try {
      return { source, node, size: compilePattern(source).size }
    } catch (error) {
      if (!(error instanceof PatternError)) throw error
      return refuseNode(node, error.message, faults)
    }
  },
)

/** The patterns of a rule, whose states are bounded together. */
const redact = mapShape(listShape(pattern, { max: 20, noun: 'patterns' }), (patterns, _, faults) => {
  let states = 0
  for (const { node, size } of patterns) {
    states += size
    if (states > statesMax) refuseNode(node, 'patterns with fewer or shorter repetitions and choices', faults)
  }
  return patterns.map(({ source }) => source)
})

/** `content`: whose content is kept. */
export function contentShape(names: NamesOfFile): ValueShape<readonly ContentRule[]> {
  const subject = mapShape(subjectShape(names, callerPattern), (whose, node, faults) =>
    whose.kind === 'provider' || whose.kind === 'each session'
      ? refuseNode(node, 'callers, since content is kept by who asks', faults)
      : whose,
  )
  const entry = mapShape(
    objectShape(
      { for: subject, keep, redact },
      {
        required: ['for', 'keep'],
        hints: { who: 'for', subject: 'for', days: 'keep', retention: 'keep', patterns: 'redact', remove: 'redact' },
      },
    ),
    (given, node) => {
      const { path: place } = node
      const rule: ContentRule = { place, subject: given.for, keepMs: given.keep, redact: given.redact ?? [] }
      return { rule, node }
    },
  )
  return mapShape(listShape(entry, { max: 1_000, noun: 'rules' }), (entries, _, faults) => {
    forRepeats(
      entries.map(({ rule, node }) => [subjectText(rule.subject), node]),
      (node, first) => {
        const subject = String(memberNode(first, 'for')?.value)
        faults.add(node, `a second rule for ${subject}`, `each once (the first is ${first.path})`)
      },
    )
    return entries.map(({ rule }) => rule)
  })
}
