import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import schema from '../../schema/providers.schema.json' with { type: 'json' }
import { programName } from '../app/package.ts'
import { booleanFlag, textFlag } from '../base/command-line/arguments.ts'
import type { Command, CommandContext } from '../base/command-line/command.ts'
import { harmless } from '../base/shown-text.ts'
import { detectProviders, type Probe } from '../config/detect.ts'
import { initialConfig } from '../config/edit/initial-config.ts'
import { writeConfig } from '../config/edit/write-config.ts'
import { parseConfig } from '../config/file/parse-config.ts'
import { findHome } from '../config/home.ts'

/** The copy of the schema beside the configuration, for editors. */
const schemaFile = 'providers.schema.json'

const flags = {
  config: textFlag('file to write', 'FILE', { environment: 'SVC_CONFIG', otherwise: '~/.svc/providers.json' }),
  force: booleanFlag('replace an existing file'),
}

/** `svc init` (docs/commands.md). @param probe replaces the requests to local ports in tests */
export function initCommandWith(probe?: Probe): Command<typeof flags> {
  async function writeFirstConfig({
    flags: { config, force },
    environment,
    stdout,
    stderr,
  }: CommandContext<typeof flags>): Promise<number> {
    const path = config ?? findHome(environment).providers
    if (existsSync(path) && !force) {
      stderr.write(`svc: ${harmless(path)} already exists; --force replaces it\n`)
      return 1
    }
    const detected = await detectProviders({ environment, ...(probe === undefined ? {} : { probe }) })
    const text = initialConfig(detected, { environment, schema: `./${schemaFile}` })
    // Throws when the written file would be invalid.
    parseConfig(text, { file: path, environment })
    await writeConfig(join(dirname(path), schemaFile), `${JSON.stringify(schema, undefined, 2)}\n`)
    await writeConfig(path, text)
    stdout.write(`${harmless(path)} was written: ${detected.providers.map(({ id }) => id).join(', ')}\n`)
    if (detected.source.kind === 'echo') {
      stdout.write(
        'No provider was found, so the echo answers. Start a local server (Ollama, LM Studio, llama.cpp) ' +
          `or set a key such as OPENAI_API_KEY,\nthen run: ${programName(environment)} init --force\n`,
      )
    }
    stdout.write(`Next: ${programName(environment)} check\n`)
    return 0
  }

  return {
    name: 'init',
    summary: 'write a first configuration with the providers detected on this machine',
    flags,
    examples: [
      { command: 'svc init', does: 'writes ~/.svc/providers.json with local servers and keys in the environment' },
      { command: 'svc init --config providers.json', does: 'writes another file' },
    ],
    exitCodes: { 1: 'failed, or the file already exists' },
    run: writeFirstConfig,
  }
}

/** `svc init`. */
export const initCommand = initCommandWith()
