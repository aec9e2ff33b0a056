import { invalidRequest, WireError } from '../../formats/error.ts'
import type { PresetChange, PresetsAnswer } from '../../http/page/page-api.ts'
import { ConfigError } from '../config.ts'
import { configBytesMax } from '../file/parse-config.ts'
import { parsePresets, type SharedPreset } from '../file/parse-presets.ts'
import { readConfigText } from '../file/read-text.ts'
import { fingerprint } from '../watch/fingerprint.ts'
import { changePageFile, faultsInWords, fileRefusals, type FileRecording } from './change-page-file.ts'
import { editConfig, type ConfigEdit } from './edit-config.ts'

const { asFaults } = fileRefusals('presets.json')

/** The presets of all users. */
export interface PresetFile {
  /** Reads the file. A faulty one is reported, and the presets before count. @throws never for faults */
  state(): Promise<PresetsAnswer>
  /**
   * Writes or removes one preset. Comments in the file stay.
   *
   * @throws {WireError} 400 for an invalid preset; 409 `no_folder`, `conflict`, `faulty_file`, `not_writable`; 404; 503
   *   when the change cannot be recorded
   */
  change(change: PresetChange, user: string | undefined): Promise<PresetsAnswer>
}

export interface PresetFileOptions extends FileRecording {
  /** Undefined without a home folder. */
  readonly file: string | undefined
}

/** Opens presets.json, which need not exist. It is read whenever it is asked for, so that changes need no watch. */
export function presetFile({ file, ...recording }: PresetFileOptions): PresetFile {
  let last: readonly SharedPreset[] = []

  async function state(): Promise<PresetsAnswer> {
    if (file === undefined) return { presets: [] }
    try {
      const text = await readConfigText(file)
      last = parsePresets(text, file)
      return { presets: last, file, version: fingerprint(text) }
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      return { presets: last, file, fault: faultsInWords(error) }
    }
  }

  return {
    state,
    async change(change, user) {
      if (file === undefined)
        throw new WireError(
          409,
          'invalid_request_error',
          'no_folder',
          'There is no home folder for presets.json: set SVC_HOME to a folder for the files of svc',
        )
      await changePageFile(
        {
          file,
          version: change.version,
          user,
          edit: (text) => editedText(text, change, file),
          fields: { preset: change.name, change: change.preset === null ? 'remove' : 'write' },
        },
        recording,
      )
      return state()
    },
  }
}

/** Applies a change to the text. @throws {WireError} when the file or the result is not valid */
function editedText(text: string | undefined, { name, before, preset }: PresetChange, file: string): string {
  const known = presetsOf(text, file).map((each) => each.name)
  const old = before ?? (preset === null ? name : undefined)
  if (old !== undefined && !known.includes(old))
    throw new WireError(404, 'invalid_request_error', 'not_found', 'No shared preset has this name', { param: 'name' })
  if (preset !== null && name !== old && known.includes(name))
    throw invalidRequest('invalid_value', `There is a shared preset '${name}' already: choose another name.`, 'name')
  const edits: ConfigEdit[] = []
  if (old !== undefined && (old !== name || preset === null)) edits.push({ kind: 'remove', path: ['presets', old] })
  if (preset !== null) edits.push({ kind: 'set', path: ['presets', name], value: preset })
  const edited = editConfig(text ?? '{\n  "presets": {}\n}\n', edits)
  checkNew(edited, file)
  return edited
}

function presetsOf(text: string | undefined, file: string): readonly SharedPreset[] {
  try {
    return parsePresets(text, file)
  } catch (error) {
    return asFaults(error)
  }
}

/** @throws {WireError} 400: the file was valid before, so the faults are those of the preset */
function checkNew(edited: string, file: string): void {
  if (Buffer.byteLength(edited) > configBytesMax)
    throw invalidRequest('invalid_value', `presets.json would have more than ${configBytesMax} bytes.`, 'preset')
  try {
    parsePresets(edited, file)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw invalidRequest('invalid_value', `The preset is not valid: ${faultsInWords(error)}.`, 'preset')
  }
}
