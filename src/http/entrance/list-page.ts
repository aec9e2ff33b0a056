import { invalidRequest, type WireError } from '../../formats/error.ts'
import { shown } from '../../formats/request-fault.ts'

/** One page of a list of models. */
export interface ListPage<Model> {
  readonly models: readonly Model[]
  /** More follow; with `before_id`: more precede. */
  readonly hasMore: boolean
}

/**
 * The page that Anthropic's query names: at most `limit` models after `after_id`, or before `before_id`. All models
 * without a query; other parameters are ignored.
 *
 * @throws {WireError} 400 for a limit below 1, and for an id that is not in the list
 */
export function listPage<Model extends { readonly name: string }>(
  models: readonly Model[],
  query: URLSearchParams,
): ListPage<Model> {
  const limit = limitOf(query)
  const before = query.get('before_id')
  const after = query.get('after_id')
  if (before !== null) {
    const end = indexOf(models, before, 'before_id')
    const start = Math.max(0, end - limit)
    return { models: models.slice(start, end), hasMore: start > 0 }
  }
  const start = after === null ? 0 : indexOf(models, after, 'after_id') + 1
  return { models: models.slice(start, start + limit), hasMore: models.length - start > limit }
}

function limitOf(query: URLSearchParams): number {
  const given = query.get('limit')
  if (given === null || given === '') return Number.MAX_SAFE_INTEGER
  if (/^[1-9]\d{0,8}$/.test(given)) return Number(given)
  throw invalidRequest('invalid_value', `'limit' must be an integer of 1 or more; found '${shown(given)}'.`, 'limit')
}

function indexOf(models: readonly { readonly name: string }[], name: string, parameter: string): number {
  const index = models.findIndex((model) => model.name === name)
  if (index === -1) throw unknownId(name, parameter)
  return index
}

function unknownId(name: string, parameter: string): WireError {
  const message = `'${parameter}' must be the id of a listed model; found '${shown(name)}'.`
  return invalidRequest('invalid_value', message, parameter)
}
