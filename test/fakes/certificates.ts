import { createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'

/** Key and certificate for a TLS server, as PEM. */
export interface Certificate {
  readonly key: string
  readonly cert: string
}

export interface CertificateOptions {
  /** A DNS name, or `127.0.0.1`. */
  readonly host: string
  /** Days from now. Default yesterday to ten days ahead. */
  readonly validDays?: readonly [from: number, to: number]
  /** Issuer; absent: self-signed. */
  readonly issuer?: Certificate
  /** Whether it can sign other certificates. */
  readonly isAuthority?: boolean
}

/**
 * Makes a certificate for P-256 with SHA-256 (RFC 5280 section 4.1), so that no test needs a tool or a key in the
 * repository.
 */
export function makeCertificate(options: CertificateOptions): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const key = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const signer: KeyObject = options.issuer === undefined ? privateKey : createPrivateKey(options.issuer.key)
  const issuerName = options.issuer === undefined && options.isAuthority !== true ? options.host : 'tests authority'
  const [from, to] = options.validDays ?? [-1, 10]
  const body = sequence(
    tagged(0xa0, integer([2])),
    integer([1, ...crypto.getRandomValues(new Uint8Array(8))]),
    ecdsaWithSha256,
    name(issuerName),
    sequence(time(from), time(to)),
    name(options.isAuthority === true ? 'tests authority' : options.host),
    new Uint8Array(publicKey.export({ type: 'spki', format: 'der' })),
    tagged(
      0xa3,
      sequence(
        extension('551d13', sequence(...(options.isAuthority === true ? [tagged(0x01, Uint8Array.of(0xff))] : []))),
        extension('551d11', sequence(alternativeName(options.host))),
      ),
    ),
  )
  const signature = sign('sha256', body, signer)
  const der = sequence(body, ecdsaWithSha256, tagged(0x03, Uint8Array.of(0), signature))
  const base64 = Buffer.from(der)
    .toString('base64')
    .replace(/.{64}(?=.)/g, '$&\n')
  return { key, cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n` }
}

function tagged(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const content = Buffer.concat(parts),
    size = content.length
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255]
  return Buffer.concat([Uint8Array.of(tag, ...length), content])
}

function sequence(...parts: readonly Uint8Array[]): Uint8Array {
  return tagged(0x30, ...parts)
}

function integer(bytes: readonly number[]): Uint8Array {
  return tagged(0x02, Uint8Array.from(bytes))
}

function objectId(hex: string): Uint8Array {
  return tagged(0x06, Buffer.from(hex, 'hex'))
}

const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'))

function name(common: string): Uint8Array {
  return sequence(tagged(0x31, sequence(objectId('550403'), tagged(0x0c, Buffer.from(common)))))
}

function time(daysFromNow: number): Uint8Array {
  const digits = new Date(Date.now() + daysFromNow * 86_400_000).toISOString().replace(/\D/g, '')
  return tagged(0x17, Buffer.from(`${digits.slice(2, 14)}Z`))
}

function extension(oidHex: string, value: Uint8Array): Uint8Array {
  return sequence(objectId(oidHex), tagged(0x04, value))
}

function alternativeName(host: string): Uint8Array {
  const octets = host.split('.').map(Number)
  const isAddress = octets.length === 4 && octets.every((octet) => octet >= 0)
  return isAddress ? tagged(0x87, Uint8Array.from(octets)) : tagged(0x82, Buffer.from(host))
}
