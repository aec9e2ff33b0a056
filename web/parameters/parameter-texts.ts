import { say } from '../texts/say.ts'
import type { ParameterName } from './parameters.ts'

/** Texts about a parameter. */
export interface ParameterTexts {
  readonly label: string
  /** Its effect, in one sentence. */
  readonly explanation: string
}

/** Texts about every parameter. */
export const parameterTexts: Readonly<Record<ParameterName, ParameterTexts>> = say.parameters.texts
