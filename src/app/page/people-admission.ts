import { changePageFile, fileRefusals, type FileRecording } from '../../config/edit/change-page-file.ts'
import { editConfig, memberText, valueAt, type ConfigEdit } from '../../config/edit/edit-config.ts'
import { readConfigText } from '../../config/file/read-text.ts'
import { fingerprint } from '../../config/watch/fingerprint.ts'
import { WireError } from '../../formats/error.ts'
import type { AdmissionAnswer, AdmissionChange } from '../../http/page/page-api.ts'
import type { RunningExtensions } from '../extensions/run-extensions.ts'

/** Changes who may sign in, in the file of the extension that has the list. Comments and other members stay. */
export function peopleAdmission(
  extensions: Pick<RunningExtensions, 'all'>,
  recording: FileRecording,
): (change: AdmissionChange, by: string | undefined) => Promise<AdmissionAnswer> {
  return async ({ user, userId, mayEnter, version }, by) => {
    const running = extensions.all.find(({ contribution }) => contribution?.people?.admission.isOn === true)
    const admission = running?.contribution?.people?.admission
    if (running === undefined || admission === undefined) throw refused('There is no list of those who may sign in')
    const { path } = running
    const { asFaults } = fileRefusals('config.json')
    const { member } = admission

    function parsed(text: string): unknown {
      try {
        return valueAt(text, [member])
      } catch (error) {
        return asFaults(error)
      }
    }

    async function edited(present: string | undefined): Promise<string> {
      const text = present ?? '{}'
      const value = parsed(text)
      const next = admission?.change(value, { user, userId }, mayEnter)
      if (next === undefined) throw refused(`${member} is not written in ${path}: change the variable that it names`)
      const result = editConfig(text, changesOf(member, value, next))
      const tried = await running?.tried(result).catch(asFaults)
      if (tried?.people?.admission.allows({ user, userId }) === mayEnter) return result
      const also = mayEnter ? 'does not name' : 'still names'
      throw refused(`With this change, ${member} ${also} ${user}, as by a variable: change ${path} by hand`)
    }

    const present = await readConfigText(path).catch(asFaults)
    const after = await edited(present)
    const shown = { file: path, ...shownChange(present ?? '{}', after, member) }
    if (version === undefined) return { ...shown, version: fingerprint(present) }
    await changePageFile({ file: path, version, user: by, edit: edited }, recording)
    if (!(await running.reload())) throw notActive(path)
    return { ...shown, version: fingerprint(after) }
  }
}

function shownChange(text: string, after: string, name: string): Pick<AdmissionAnswer, 'line' | 'before' | 'after'> {
  const member = memberText(text, name)
  return { line: member?.line ?? 1, before: member?.text ?? '', after: memberText(after, name)?.text ?? '' }
}

/** Entries that stay keep their comments. */
function changesOf(member: string, value: unknown, next: unknown): readonly ConfigEdit[] {
  if (!Array.isArray(value) || !Array.isArray(next)) return [{ kind: 'set', path: [member], value: next }]
  const gone = [...value.keys()].filter((index) => !next.includes(value[index]))
  const added = next.filter((entry) => !value.includes(entry))
  return [
    ...gone.toReversed().map((index): ConfigEdit => ({ kind: 'remove', path: [member, index] })),
    ...added.map((entry): ConfigEdit => ({ kind: 'insert', path: [member, -1], value: entry })),
  ]
}

function refused(message: string): WireError {
  return new WireError(409, 'invalid_request_error', 'not_changeable', message)
}

function notActive(path: string): WireError {
  const message = `${path} is written, but not every process uses it; the service log says why`
  return new WireError(503, 'overloaded_error', 'not_active', message)
}
