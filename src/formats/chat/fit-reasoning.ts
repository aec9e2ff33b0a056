import { profileEfforts as efforts, type TargetProfile } from '../../profiles/profile.ts'
import { objectOf, textOf } from '../exact-json.ts'
import { nearestEffort } from '../fit-steps.ts'
import type { ChangeNotes } from '../format.ts'
import type { RequestDraft } from '../request-draft.ts'

/**
 * The effort of reasoning as the nearest that the target takes, in the field that the target has for it. A call that
 * the target demands only without reasoning turns it off (`fit-tools.ts` reads the choice).
 */
export function fitReasoning(draft: RequestDraft, profile: TargetProfile, changes: ChangeNotes | undefined): void {
  if (profile.forcedTool === 'unthinking' && demandsCall(draft) && !['never', 'always'].includes(profile.thinks)) {
    if (turnOff(draft, profile) && draft.get('reasoning_effort') !== 'none') changes?.adjust('reasoning_effort')
    return
  }
  const asked = textOf(draft.get('reasoning_effort'))
  const effort = efforts.find((each) => each === asked)
  if (effort === undefined) return
  if (effort === 'none' && profile.effortForm !== 'reasoning_effort') {
    turnOff(draft, profile)
    return
  }
  if (profile.efforts === undefined || profile.efforts.includes(effort)) return
  const nearest = nearestEffort(effort, profile.efforts)
  if (nearest === undefined) {
    draft.remove('reasoning_effort')
    changes?.drop('reasoning_effort')
  } else {
    draft.set('reasoning_effort', nearest)
    changes?.adjust('reasoning_effort')
  }
}

/** Whether the request demands that the model calls a tool. */
export function demandsCall(draft: RequestDraft): boolean {
  const choice = draft.get('tool_choice')
  return choice === 'required' || choice === 'any' || (typeof choice === 'object' && choice !== null)
}

/** Turns reasoning off in the target's own way. Returns whether it has one. */
function turnOff(draft: RequestDraft, { effortForm, efforts: taken }: TargetProfile): boolean {
  switch (effortForm) {
    case 'reasoning_effort':
      if (taken !== undefined && !taken.includes('none')) return false
      draft.set('reasoning_effort', 'none')
      return true
    case 'thinking':
      draft.remove('reasoning_effort')
      draft.set('thinking', { type: 'disabled' })
      return true
    case 'enable_thinking':
      draft.remove('reasoning_effort')
      draft.set('enable_thinking', false)
      return true
    case 'chat_template_kwargs':
      draft.remove('reasoning_effort')
      draft.set('chat_template_kwargs', {
        ...objectOf(draft.get('chat_template_kwargs')),
        enable_thinking: false,
      })
      return true
  }
}
