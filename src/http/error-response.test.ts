import { describe, expect, test } from 'bun:test'
import { embeddings } from '../formats/embeddings/format.ts'
import { WireError } from '../formats/error.ts'
import { errorResponse } from './error-response.ts'

describe('an error as a response', () => {
  test('has the shape of docs/errors.md', async () => {
    const response = errorResponse(
      new WireError(400, 'invalid_request_error', 'invalid_type', 'no', { param: 'model' }),
      'id-1',
    )
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      error: { message: 'no', type: 'invalid_request_error', param: 'model', code: 'invalid_type' },
    })
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json',
      'x-request-id': 'id-1',
      'x-should-retry': 'false',
    })
  })

  test('has shape and status of the format', async () => {
    const format = { ...embeddings, errorBody: (_: WireError, id: string) => id, errorStatus: () => 529 }
    const response = errorResponse(new WireError(503, 'overloaded_error', 'c', 'm'), 'id-1', { format })
    expect([response.status, await response.text()]).toEqual([529, 'id-1'])
  })

  test.each([
    [503, 'true'],
    [429, 'true'],
    [408, 'true'],
    [400, 'false'],
    [404, 'false'],
    [413, 'false'],
    [500, 'false'],
  ])('of status %p says x-should-retry: %s unless it says itself', (status, expected) => {
    expect(errorResponse(new WireError(status, 'api_error', 'c', 'm'), 'id').headers.get('x-should-retry')).toBe(
      expected,
    )
    expect(
      errorResponse(
        new WireError(status, 'api_error', 'c', 'm', { headers: { 'x-should-retry': 'own' } }),
        'id',
      ).headers.get('x-should-retry'),
    ).toBe('own')
  })

  test('has the headers of the error and those that are added', () => {
    const response = errorResponse(
      new WireError(405, 'invalid_request_error', 'c', 'm', { headers: { allow: 'GET' } }),
      'id',
      { headers: { 'x-svc-attempts': '0' } },
    )
    expect(response.headers.get('allow')).toBe('GET')
    expect(response.headers.get('x-svc-attempts')).toBe('0')
  })
})
