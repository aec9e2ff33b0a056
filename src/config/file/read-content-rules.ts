import type { TextRule } from '../../base/text-rule.ts'
import { compilePattern, PatternError, patternLengthMax } from '../../content/pattern.ts'
import { subjectText, type ContentRule } from '../../limits/access-policy.ts'
import { readElementsTo, readKnownMembers, readTextField, refuse, type Field, type MemberNames } from './fields.ts'
import type { Findings } from './findings.ts'
import { readSubject, type NamesOfFile } from './read-limits.ts'

const rulesMax = 1_000
const patternsMax = 20
/** States of all patterns of a rule. */
const statesMax = 2_000

const ruleMembers: MemberNames = {
  names: ['for', 'keep', 'redact'],
  required: ['for', 'keep'],
  hints: { who: 'for', subject: 'for', days: 'keep', retention: 'keep', patterns: 'redact', remove: 'redact' },
}

const keepRule: TextRule = {
  allowed: 'hours or days such as "12h" or "7d", at most 366 days, or "0d" to keep nothing',
  pattern: /^(?:0|[1-9]\d{0,3})[hd]$/,
  lengthMax: 64,
}
const dayMs = 86_400_000
const keepMsMax = 366 * dayMs

const patternRule: TextRule = {
  allowed: 'a pattern of the text to be removed',
  pattern: /./s,
  lengthMax: patternLengthMax,
}

/** Reads `content`. */
export function readContentRules(
  field: Field | undefined,
  names: NamesOfFile,
  findings: Findings,
): readonly ContentRule[] {
  const known = new Map<string, Field>()
  return readElementsTo(rulesMax, 'rules', field, findings).flatMap((item) => {
    const rule = readRule(item, names, findings)
    if (rule === undefined) return []
    const subject = subjectText(rule.subject)
    const first = known.get(subject)
    if (first !== undefined)
      findings.add(item, `a second rule for ${subject}`, `each once (the first is ${first.path})`)
    known.set(subject, first ?? item)
    return [rule]
  })
}

function readRule(item: Field, names: NamesOfFile, findings: Findings): ContentRule | undefined {
  const members = readKnownMembers(item, ruleMembers, findings)
  const whose = members.get('for')
  const subject = readSubject(whose, names, findings)
  const keepMs = readKeep(members.get('keep'), findings)
  const redact = readPatterns(members.get('redact'), findings)
  if (subject?.kind === 'provider' && whose !== undefined)
    return refuse(whose, 'callers, since content is kept by who asks', findings)
  if (subject === undefined || subject.kind === 'provider' || keepMs === undefined) return undefined
  return { place: item.path, subject, keepMs, redact }
}

function readKeep(field: Field | undefined, findings: Findings): number | undefined {
  const text = readTextField(field, keepRule, findings)
  if (text === undefined || field === undefined) return undefined
  const ms = Number(text.slice(0, -1)) * (text.endsWith('d') ? dayMs : 3_600_000)
  return ms <= keepMsMax ? ms : refuse(field, keepRule.allowed, findings)
}

function readPatterns(field: Field | undefined, findings: Findings): readonly string[] {
  let states = 0
  return readElementsTo(patternsMax, 'patterns', field, findings).flatMap((item) => {
    const source = readTextField(item, patternRule, findings)
    if (source === undefined) return []
    try {
      states += compilePattern(source).size
    } catch (error) {
      if (!(error instanceof PatternError)) throw error
      return refuse(item, error.message, findings) ?? []
    }
    if (states > statesMax)
      return refuse(item, 'patterns with fewer or shorter repetitions and choices', findings) ?? []
    return [source]
  })
}
