import type { JsonCursor } from '../bytes/json-cursor.ts'
import { latin1 } from '../bytes/text.ts'
import { invalidRequest, type WireError } from './error.ts'
import { shown, wrongType } from './request-fault.ts'

/** A number of a request, and its range, both ends included. */
export interface NumberRule {
  readonly kind: 'number' | 'integer'
  readonly min: number
  readonly max: number
}

const modelCharactersMax = 256

/**
 * Returns the model at `start`. Call it after passing a string, and before passing any other value.
 *
 * @param earlier the model of an earlier member, which is an error: readers could take different ones
 */
export function readModel(cursor: JsonCursor, start: number, earlier: string | undefined): string {
  if (earlier !== undefined) throw invalidRequest('invalid_value', "The body has more than one 'model'.", 'model')
  if (cursor.position === start) throw wrongType('model', 'a string', cursor.peek())
  // An escaped character takes six bytes, or twelve as a surrogate pair.
  if (cursor.position - start - 2 > modelCharactersMax * 12) throw modelTooLong()
  return checkedModel(cursor.stringAt(start, cursor.position))
}

/** Returns the name of a model. @throws {WireError} 400 for a name that is empty, too long or has control characters */
export function checkedModel(model: string): string {
  if (model.length > modelCharactersMax && Array.from(model).length > modelCharactersMax) throw modelTooLong()
  if (model === '') throw invalidRequest('invalid_value', "'model' must not be empty.", 'model')
  if (controlCharacters.test(model) || !model.isWellFormed()) {
    throw invalidRequest(
      'invalid_value',
      `'model' must not contain control characters or lone surrogates; found '${shown(model)}'.`,
      'model',
    )
  }
  return model
}

function modelTooLong(): WireError {
  return invalidRequest('invalid_value', `'model' must be at most ${modelCharactersMax} characters long.`, 'model')
}

const controlCharacters = /[\u0000-\u001f\u007f-\u009f]/

/** Reads a boolean, and moves behind it. Null counts as absent: false. */
export function readBoolean(cursor: JsonCursor, param: string): boolean {
  const kind = cursor.peek()
  if (kind === 'boolean') return cursor.boolean()
  if (kind !== 'null') throw wrongType(param, 'a boolean', kind)
  cursor.skip()
  return false
}

/**
 * Checks that the value at `start` is one of `values`. The cursor must be behind the value if that is a string, else at
 * `start`.
 */
export function checkChoice(cursor: JsonCursor, start: number, param: string, values: readonly string[]): void {
  if (cursor.position === start) {
    const kind = cursor.peek()
    if (kind !== 'null') throw wrongType(param, 'a string', kind)
    cursor.skip()
    return
  }
  const isShort = cursor.position - start < 1024
  if (!isShort || !values.includes(cursor.stringAt(start, cursor.position)))
    throw notAmong(cursor, start, param, values)
}

/** The error for a string between `start` and the cursor that is not one of `values`. */
export function notAmong(cursor: JsonCursor, start: number, param: string, values: readonly string[]): WireError {
  const isShort = cursor.position - start < 1024
  const found = isShort ? `; found '${shown(cursor.stringAt(start, cursor.position))}'` : ''
  return invalidRequest('invalid_value', `'${param}' must be one of ${values.join(', ')}${found}.`, param)
}

/** Passes and checks a number. Integers may be written as 1.0 or 1e2; 1.5 is a wrong type, as at OpenAI. */
export function checkNumber(cursor: JsonCursor, param: string, rule: NumberRule): void {
  const expected = rule.kind === 'integer' ? 'an integer' : 'a number'
  const kind = cursor.peek()
  if (kind === 'null') {
    cursor.skip()
    return
  }
  if (kind !== 'number') throw wrongType(param, expected, kind)
  const start = cursor.position
  const value = cursor.number()
  const found = () => shown(latin1(cursor.bytes, start, Math.min(cursor.position, start + 65)))
  if (rule.kind === 'integer' && !Number.isInteger(value) && Number.isFinite(value)) {
    throw invalidRequest('invalid_type', `'${param}' must be an integer; found ${found()}.`, param)
  }
  if (Number.isFinite(value) && value >= rule.min && value <= rule.max) return
  const range = Number.isFinite(rule.min) ? `between ${rule.min} and ${rule.max}` : 'within the range of numbers'
  throw invalidRequest('invalid_value', `'${param}' must be ${range}; found ${found()}.`, param)
}
