import type { SignInChange, SignInProviderEntry } from '../../src/http/page/page-api.ts'

/** What is typed. */
export interface SignInFields {
  readonly provider: SignInProviderEntry
  readonly place: string
  readonly clientId: string
  readonly clientSecret: string
  readonly user: string
  /** Separated by commas or lines. */
  readonly others: string
  readonly hasKeys: boolean
}

/** A field that must not be empty, in the order of the form. */
export type RequiredField = 'place' | 'clientId' | 'clientSecret' | 'user'

/** The fields that are empty, and must not be. */
export function missingFields(fields: SignInFields): readonly RequiredField[] {
  const { provider } = fields
  const required: readonly RequiredField[] = [
    ...(provider.place?.isRequired === true ? (['place'] as const) : []),
    ...(['clientId', 'clientSecret', 'user'] as const),
  ]
  return required.filter((name) => fields[name].trim() === '')
}

/** The change without its secret; `undefined` while a field is missing, except the secret. */
export function draftOf(fields: SignInFields, origin: string): SignInChange | undefined {
  if (missingFields(fields).some((name) => name !== 'clientSecret')) return undefined
  const { provider, hasKeys } = fields
  const place = provider.place === undefined ? '' : fields.place.trim()
  return {
    provider: provider.id,
    ...(place === '' ? {} : { place }),
    clientId: fields.clientId.trim(),
    user: nameOf(fields.user),
    others: fields.others
      .split(/[,\n]/)
      .map(nameOf)
      .filter((name) => name !== ''),
    hasKeys,
    origin,
  }
}

/** Names are often written with an `@`. */
function nameOf(text: string): string {
  return text.trim().replace(/^@/, '')
}
