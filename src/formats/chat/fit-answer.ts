import type { JsonObject } from '../../base/json-value.ts'
import type { TargetProfile } from '../../profiles/profile.ts'
import { answerInstruction } from '../answer-instruction.ts'
import { objectOf, omit } from '../exact-json.ts'
import type { ChangeNotes } from '../format.ts'
import type { RequestDraft } from '../request-draft.ts'
import { inDialects } from '../schema-dialects.ts'

/** The form of the answer as the target takes it: its schema in a dialect, another form, or an instruction. */
export function fitAnswer(draft: RequestDraft, profile: TargetProfile, changes: ChangeNotes | undefined): void {
  const format = objectOf(draft.get('response_format'))
  const { type } = format
  if (type !== 'json_object' && type !== 'json_schema') return
  const fitting = formOf(format, profile, draft)
  if (fitting !== format) {
    draft.set('response_format', fitting)
    changes?.adjust('response_format')
  }
  const fittingType = fitting?.['type']
  const isSaid = fittingType === type || fittingType === 'json_schema'
  const lacksWord = fittingType === 'json_object' && profile.needsWordJson && !saysJson(draft)
  if (!isSaid || lacksWord) addInstruction(draft, format)
}

/** The member for the target. Undefined: it takes none. */
function formOf(format: JsonObject, profile: TargetProfile, draft: RequestDraft): JsonObject | undefined {
  const { answerFormat, answerSchema, jsonBesideTools, strict } = profile
  if (answerFormat === 'none' || (!jsonBesideTools && draft.has('tools'))) return undefined
  if (format['type'] === 'json_object')
    return answerFormat === 'schema'
      ? { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } }
      : format
  if (answerFormat === 'object') return { type: 'json_object' }
  const declared = objectOf(format['json_schema'])
  const schema = objectOf(declared['schema'])
  const fitting = inDialects(schema, answerSchema)
  const isStrict = 'strict' in declared && strict === 'drop'
  if (fitting === schema && !isStrict) return format
  return { ...format, json_schema: { ...(isStrict ? omit(declared, ['strict']) : declared), schema: fitting } }
}

/** The instruction in place of a form, in the system message. */
function addInstruction(draft: RequestDraft, format: JsonObject): void {
  const { schema } = objectOf(format['json_schema'])
  const text = answerInstruction(schema)
  const messages = draft.objects('messages') ?? []
  const [first, ...others] = messages
  const isSystem = first?.['role'] === 'system' || first?.['role'] === 'developer'
  const content = first?.['content']
  draft.setObjects(
    'messages',
    first !== undefined && isSystem && typeof content === 'string'
      ? [{ ...first, content: `${content}\n${text}` }, ...others]
      : [{ role: 'system', content: text }, ...messages],
  )
}

/** Whether a message has the word: targets of `json_object` refuse a request without it. */
function saysJson(draft: RequestDraft): boolean {
  return /json/i.test(JSON.stringify(draft.objects('messages')))
}
