import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import schema from '../../schema/providers.schema.json' with { type: 'json' }
import { detectProviders } from '../config/detect.ts'
import type { Probe } from '../config/detect.ts'
import { findHome } from '../config/home.ts'
import { initialConfig } from '../config/initial-config.ts'
import { parseConfig } from '../config/parse-config.ts'
import { writeConfig } from '../config/write-config.ts'
import { harmless } from '../observe/text.ts'
import { booleanFlag, textFlag } from './arguments.ts'
import type { Command, CommandContext } from './command.ts'
import { programName } from './process.ts'

/** Lies beside the configuration, so that editors find it wherever this program is. */
const schemaFile = 'providers.schema.json'

const flags = {
  config: textFlag('file to write', 'FILE', { environment: 'SVC_CONFIG', otherwise: '~/.svc/providers.json' }),
  force: booleanFlag('replace a file that is there'),
}

/** `svc init` (docs/commands.md). @param probe asks a local port for its models; for tests */
export function initCommand(probe?: Probe): Command<typeof flags> {
  async function writeFirstConfig({
    flags: { config, force },
    environment,
    stdout,
    stderr,
  }: CommandContext<typeof flags>): Promise<number> {
    const path = config ?? findHome(environment).providers
    if (existsSync(path) && !force) {
      stderr.write(`svc: ${harmless(path)} is there already and was left as it is; --force replaces it\n`)
      return 1
    }
    const detected = await detectProviders({ environment, ...(probe === undefined ? {} : { probe }) })
    const text = initialConfig(detected, { environment, schema: `./${schemaFile}` })
    // What this program writes it must be able to read.
    parseConfig(text, { file: path, environment })
    await writeConfig(join(dirname(path), schemaFile), `${JSON.stringify(schema, undefined, 2)}\n`)
    await writeConfig(path, text)
    stdout.write(`${harmless(path)} was written: ${detected.providers.map(({ id }) => id).join(', ')}\n`)
    if (detected.source.kind === 'echo') {
      stdout.write(
        `No provider was found, so the echo answers. Start a local server (Ollama, LM Studio, llama.cpp) or set a key such as OPENAI_API_KEY,\nthen run: ${programName(environment)} init --force\n`,
      )
    }
    stdout.write(`Next: ${programName(environment)} check\n`)
    return 0
  }

  return {
    name: 'init',
    summary: 'write a first configuration from what is found on this machine',
    flags,
    examples: [
      { command: 'svc init', does: 'writes ~/.svc/providers.json: local servers that answer, keys in the environment' },
      { command: 'svc init --config providers.json', does: 'writes another file' },
    ],
    exitCodes: { 1: 'failed, or the file is there already' },
    run: writeFirstConfig,
  }
}

/** `svc init`. */
export const init = initCommand()
