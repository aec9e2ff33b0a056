import { createHmac, randomBytes } from 'node:crypto'
import { keyHeaders } from '../../../formats/format-list.ts'
import { hashOf, isToken, randomToken } from '../session/random-token.ts'

/*
 * What agents send. An access token admits to the API. A refresh token names its family, an agent that was signed in,
 * and has a secret that changes with each use. Both are opaque: rights stand in stores, under hashes.
 */

const accessPrefix = 'svc_at_'
const refreshPrefix = 'svc_rt_'
const familyIdForm = /^[A-Za-z0-9_-]{22}$/
const familyIdLength = 22

/** A new access token. */
export function randomAccessToken(): string {
  return `${accessPrefix}${randomToken()}`
}

/** Whether a text has the form of an access token. */
export function isAccessToken(text: string): boolean {
  return text.startsWith(accessPrefix) && isToken(text.slice(accessPrefix.length))
}

/** A refresh token. */
export interface RefreshToken {
  /** 128 random bits. */
  readonly familyId: string
  readonly secret: string
}

/** The first refresh token of a new family. */
export function randomRefreshToken(): RefreshToken {
  return { familyId: randomBytes(16).toString('base64url'), secret: randomToken() }
}

export function writeRefreshToken({ familyId, secret }: RefreshToken): string {
  return `${refreshPrefix}${familyId}${secret}`
}

/** Parses a refresh token; `undefined` for other texts. */
export function parseRefreshToken(text: string): RefreshToken | undefined {
  if (!text.startsWith(refreshPrefix)) return undefined
  const familyId = text.slice(refreshPrefix.length, refreshPrefix.length + familyIdLength)
  const secret = text.slice(refreshPrefix.length + familyIdLength)
  return familyIdForm.test(familyId) && isToken(secret) ? { familyId, secret } : undefined
}

/**
 * The token that follows. It takes the token before and the salt of the family, which only this service has: two
 * programs that use one token at the same time get the same next one, and a thief of a used token cannot make it.
 */
export function nextRefreshToken({ familyId, secret }: RefreshToken, salt: string): RefreshToken {
  return { familyId, secret: createHmac('sha256', salt).update(secret).digest('base64url') }
}

/** The key of a family in stores, which does not give away its id. */
export function familyKeyOf(familyId: string): string {
  return hashOf(`family ${familyId}`)
}

/** The access token of a request: in `Authorization: Bearer`, or where clients send API keys. */
export function sentAccessToken({ headers }: Request): string | undefined {
  const bearer = /^bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1]
  return (
    [bearer, ...keyHeaders.map((name) => headers.get(name))].find(
      (token) => typeof token === 'string' && token.startsWith(accessPrefix),
    ) ?? undefined
  )
}
