import type { TargetProfile } from './profile.ts'

/** What a refusal teaches of its target. */
export interface Lesson {
  /** Of the trait, for trails and metrics: letters, digits, `_`, `.`. */
  readonly name: string
  readonly profile: Partial<TargetProfile>
}

interface LessonRule {
  readonly name: string
  /** Of the refusal, in its own spelling. */
  readonly words: RegExp
  /** What it teaches. @param found the match of `words` */
  readonly teaches: (found: RegExpExecArray) => Partial<TargetProfile> | undefined
  readonly sources: readonly string[]
}

/** Refusals by their words, the most special first. */
const rules: readonly LessonRule[] = [
  {
    name: 'system_first',
    words: /system (?:message|prompt|role)s? (?:must|should|can only) be (?:at the beginning|first|the first)/i,
    teaches: () => ({ system: 'first', developer: 'system' }),
    sources: ['https://github.com/vllm-project/vllm/issues/41114'],
  },
]

/** What a refusal teaches, by its words. Undefined: no rule knows them. */
export function lessonOf(refusal: string): Lesson | undefined {
  for (const { name, words, teaches } of rules) {
    const found = words.exec(refusal)
    const profile = found === null ? undefined : teaches(found)
    if (profile !== undefined) return { name, profile }
  }
  return undefined
}
