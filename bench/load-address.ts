import { spokenNames, type SpokenName } from './spoken-formats.ts'

/** Address of a proxy on 127.0.0.1. */
export interface LoadAddress {
  readonly port: number
  readonly headers: Readonly<Record<string, string>>
  /** Default: the path of chat completions. */
  readonly path?: string
  /** Format of the requests, with its own paths. Default: chat completions, as all proxies understand them. */
  readonly speaks?: SpokenName
}

/** @throws Error with the name of the first invalid field */
export function parseLoadAddress(fields: Readonly<Record<string, unknown>>): LoadAddress {
  const headers = asRecord(fields['headers'], 'headers')
  return {
    port: numberIn(fields, 'port'),
    headers: Object.fromEntries(Object.entries(headers).map(([name, header]) => [name, String(header)])),
    ...(fields['path'] === undefined ? {} : { path: String(fields['path']) }),
    ...(fields['speaks'] === undefined ? {} : { speaks: spokenIn(fields['speaks']) }),
  }
}

function spokenIn(value: unknown): SpokenName {
  const name = spokenNames.find((each) => each === value)
  if (name === undefined) throw new Error(`speaks: found '${String(value)}', allowed: ${spokenNames.join(', ')}`)
  return name
}

/** @throws Error when the value is no object */
export function asRecord(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw new Error(`${name} is not an object`)
  return Object.fromEntries(Object.entries(value))
}

/** @throws Error when the field is no number */
export function numberIn(fields: Readonly<Record<string, unknown>>, name: string): number {
  const value = fields[name]
  if (typeof value !== 'number') throw new Error(`${name} is not a number`)
  return value
}
