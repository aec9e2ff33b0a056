import type { JsonObject } from '../../base/json-value.ts'
import type { TargetProfile } from '../../profiles/profile.ts'
import { UpstreamFailure } from '../../service/failure.ts'
import { objectOf, objectsOf, omit } from '../exact-json.ts'
import type { ChangeNotes } from '../format.ts'
import type { RequestDraft } from '../request-draft.ts'
import { inDialects, ofObject } from '../schema-dialects.ts'
import { demandsCall } from './fit-reasoning.ts'

/**
 * Tools, and the choice among them, in the form that the target takes.
 *
 * @throws {UpstreamFailure} `bad_request` for more tools than the target takes
 */
export function fitTools(draft: RequestDraft, profile: TargetProfile, changes: ChangeNotes | undefined): void {
  const { tools, dropInTools, strict, toolSchema, toolDescription } = profile
  const count = tools === Infinity ? 0 : draft.count('tools')
  if (count > tools) throw new UpstreamFailure('bad_request', `${count} tools; the provider takes ${tools} at most`)
  dropEmptyTools(draft, profile)
  fitChoice(draft, profile, changes)
  const refused = strict === 'drop' ? [...dropInTools, 'strict'] : dropInTools
  if (refused.length + toolSchema.length === 0 && toolDescription === Infinity) return
  const declared = objectsOf(draft.get('tools'))
  const fitting = declared.map((tool) => withSchema(without(tool, refused), toolSchema))
  const cut = fitting.map((tool) => withDescription(tool, toolDescription))
  if (cut.some((tool, index) => tool !== fitting[index])) changes?.adjust('tools.description')
  if (cut.some((tool, index) => tool !== declared[index])) draft.set('tools', cut)
}

/** `tools` without a tool, and what needs one. */
function dropEmptyTools(draft: RequestDraft, { emptyTools }: TargetProfile): void {
  if (emptyTools || draft.count('tools') > 0 || draft.has('functions')) return
  for (const name of ['tools', 'tool_choice', 'parallel_tool_calls']) draft.remove(name)
}

function withDescription(tool: JsonObject, most: number): JsonObject {
  const declared = objectOf(tool['function'])
  const { description } = declared
  if (typeof description !== 'string' || description.length <= most) return tool
  return { ...tool, function: { ...declared, description: description.slice(0, most) } }
}

/** The tool with its parameters in the dialects of the target. Parameters of an object are written out. */
function withSchema(tool: JsonObject, dialects: TargetProfile['toolSchema']): JsonObject {
  const declared = objectOf(tool['function'])
  const { parameters, strict } = declared
  // Only the schemas of strict tools are checked against it.
  const needed = dialects.filter((dialect) => dialect !== 'closed' || strict === true)
  if (needed.length === 0 || tool['function'] === undefined) return tool
  const fitting = inDialects(ofObject(parameters), needed)
  return fitting === parameters ? tool : { ...tool, function: { ...declared, parameters: fitting } }
}

function fitChoice(draft: RequestDraft, { forcedTool, thinks }: TargetProfile, changes: ChangeNotes | undefined): void {
  if (forcedTool === 'any' || !demandsCall(draft)) return
  if (forcedTool === 'unthinking' && thinks !== 'always') return
  const choice = draft.get('tool_choice')
  if (forcedTool === 'required') {
    const { name } = objectOf(objectOf(choice)['function'])
    if (typeof name !== 'string') return
    const named = objectsOf(draft.get('tools')).filter((tool) => objectOf(tool['function'])['name'] === name)
    if (named.length === 0) return
    draft.set('tools', named)
    draft.set('tool_choice', 'required')
    changes?.adjust('tool_choice')
    return
  }
  draft.set('tool_choice', 'auto')
  changes?.drop('tool_choice')
}

function without(tool: JsonObject, names: readonly string[]): JsonObject {
  const declared = tool['function']
  if (!names.some((name) => name in tool || name in objectOf(declared))) return tool
  const kept = omit(tool, names)
  return declared === undefined ? kept : { ...kept, function: omit(objectOf(declared), names) }
}
