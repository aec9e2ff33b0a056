import type { TextRule } from '../../base/text-rule.ts'
import { listShape, namedShape, namesBy, objectShape } from '../../shapes/containers.ts'
import { plainValue } from '../../shapes/node.ts'
import {
  eitherShape,
  flagShape,
  integerShape,
  mapShape,
  numberShape,
  textShape,
  wordShape,
  type ValueShape,
} from '../../shapes/shape.ts'
import { findHome } from '../home.ts'
import type { Environment } from './environment.ts'
import { readFileBy, schemaAddress } from './read-file.ts'
import { readConfigText } from './read-text.ts'
import { modelName } from './rules.ts'

/** A preset of presets.json (docs/page.md#presets). Absent members leave those of a conversation as they are. */
export interface SharedPreset {
  readonly name: string
  readonly description?: string
  readonly model?: string
  /** System prompt. */
  readonly system?: string
  /** Text for the message field. */
  readonly prompt?: string
  /** Fields of a request. */
  readonly parameters?: Readonly<Record<string, unknown>>
}

/** Number of presets in the file. */
export const presetsMax = 200

const nameRule: TextRule = {
  allowed: 'a name of letters, digits, ".", "_" and "-", beginning with a letter or digit, of at most 40 characters',
  pattern: /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]*$/u,
  lengthMax: 40,
}
const line = textShape({ allowed: 'a text in one line', pattern: /^[^\p{Cc}]*$/u, lengthMax: 200 })
const longText = textShape({ allowed: 'a text', pattern: /^/, lengthMax: 32_000 })
const stop = textShape({ allowed: 'a text', pattern: /./s, lengthMax: 1_000 })

/** The parameters that the page has. They keep the names of a request. */
const parameters = objectShape({
  temperature: numberShape(0, 2),
  top_p: numberShape(0, 1),
  frequency_penalty: numberShape(-2, 2),
  presence_penalty: numberShape(-2, 2),
  seed: integerShape(Number.MIN_SAFE_INTEGER),
  max_completion_tokens: integerShape(1),
  max_tokens: integerShape(1),
  // A text, or a list of texts, as in a request.
  stop: eitherShape({ string: stop, array: listShape(stop, { max: 16, allowed: 'at most 16 texts' }) }, stop),
  reasoning_effort: wordShape(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']),
  enable_thinking: flagShape,
  logprobs: flagShape,
  top_logprobs: integerShape(0, 20),
  stream: flagShape,
})

/** An entry of `presets`, without its name. */
export const presetShape: ValueShape<Omit<SharedPreset, 'name'>> = objectShape(
  {
    description: line,
    model: modelName,
    system: longText,
    prompt: longText,
    parameters: mapShape(parameters, (_, node) =>
      Object.fromEntries(node.members().map((each) => [each.name, plainValue(each.node)])),
    ),
  },
  {
    hints: {
      instructions: 'system',
      system_prompt: 'system',
      message: 'prompt',
      template: 'prompt',
      settings: 'parameters',
    },
  },
)

/** The table of presets.json. */
export const presetsFileShape = objectShape(
  {
    $schema: schemaAddress,
    presets: mapShape(namedShape(presetShape, { ...namesBy(nameRule), max: presetsMax, noun: 'presets' }), (presets) =>
      Array.from(presets, ([name, preset]): SharedPreset => ({ name, ...preset })),
    ),
  },
  { required: ['presets'] },
)

/**
 * Parses presets.json, in the order of the file.
 *
 * @param text undefined without a file: no presets
 * @throws {ConfigError} with all faults
 */
export function parsePresets(text: string | undefined, file: string): readonly SharedPreset[] {
  return text === undefined ? [] : readFileBy(text, file, presetsFileShape).presets
}

/** Reads the presets of this machine. @throws {ConfigError} */
export async function loadPresets(environment: Environment): Promise<readonly SharedPreset[]> {
  const file = presetsFile(environment)
  return file === undefined ? [] : parsePresets(await readConfigText(file), file)
}

/** The path of presets.json; undefined without a home folder. */
export function presetsFile(environment: Environment): string | undefined {
  try {
    return findHome(environment).presets
  } catch {
    return undefined
  }
}
