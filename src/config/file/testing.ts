import { Ajv2020 } from 'ajv/dist/2020.js'
import { ConfigError, type ConfigFault } from '../config.ts'
import { parseConfig } from './parse-config.ts'

/** Compiles a JSON Schema for editors. The result says whether a value is valid by it. */
export function validatorOf(schema: object): (value: unknown) => boolean {
  const extensions = ['allowTrailingCommas', 'allowComments']
  return new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, keywords: extensions }).compile(schema)
}

/** The faults that the parser finds in a text. Empty: it is accepted. */
export function faultsOf(text: string): readonly ConfigFault[] {
  try {
    parseConfig(text, { file: 'providers.json', environment: {} })
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
}
