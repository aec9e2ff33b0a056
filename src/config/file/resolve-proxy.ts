import { BlockList, isIP } from 'node:net'
import { isLoopbackHost } from '../../base/this-machine.ts'
import type { HttpProxy } from '../../transport/transport.ts'
import type { Lack, ProviderConfig } from '../config.ts'
import { isPem, readVariable, resolveFile, type Environment, type Resolved } from './environment.ts'
import type { ParsedProvider } from './parse-provider.ts'
import { keyFilePattern, variablePattern } from './rules.ts'

/*
 * The proxy on the way to an upstream, and its certificates (docs/deployment.md#outgoing-proxies). Programs differ in
 * how they read NO_PROXY; this rule takes what most of them mean: a name covers itself and all names below it, with or
 * without a leading dot or `*.`.
 */

/**
 * Reads the address of a proxy: `http://[USER:PASSWORD@]HOST[:PORT]`, where `http://` may be left out.
 *
 * @returns `undefined` for other text, such as an `https:` address: Bun has no TLS within TLS
 */
export function parseProxy(text: string): HttpProxy | undefined {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  if (url === null || url.protocol !== 'http:' || url.pathname !== '/' || url.search !== '' || url.hash !== '')
    return undefined
  const port = url.port === '' ? 80 : Number(url.port)
  const proxy = { hostname: url.hostname.replace(/^\[|\]$/g, ''), port }
  if (url.username === '' && url.password === '') return proxy
  try {
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    return { ...proxy, authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
  } catch {
    // A percent sign that encodes nothing.
    return undefined
  }
}

/**
 * The variable with the proxy for a URL. Names in lower case come first. This machine is always asked directly.
 *
 * @returns `undefined`: without a proxy
 */
export function proxyVariable(url: URL, environment: Environment): string | undefined {
  if (isLoopbackHost(url.hostname)) return undefined
  const list = valueOf(['no_proxy', 'NO_PROXY'], environment)?.value ?? ''
  if (list.split(/[\s,]+/).some((entry) => covers(entry, url))) return undefined
  const scheme = url.protocol === 'https:' ? 'https' : 'http'
  return valueOf([`${scheme}_proxy`, `${scheme.toUpperCase()}_PROXY`, 'all_proxy', 'ALL_PROXY'], environment)?.name
}

/** The proxy of the environment for a URL. @throws {Error} if its variable has no usable address */
export function usualProxy(url: URL, environment: Environment): { readonly proxy?: HttpProxy } {
  const name = proxyVariable(url, environment)
  if (name === undefined) return {}
  const proxy = parseProxy(readVariable(environment, name) ?? '')
  if (proxy === undefined)
    throw new Error(`${name} is no address of an HTTP proxy such as http://proxy.example.com:3128`)
  return { proxy }
}

function valueOf(
  names: readonly string[],
  environment: Environment,
): { readonly name: string; readonly value: string } | undefined {
  for (const name of names) {
    const value = readVariable(environment, name)
    if (value !== undefined) return { name, value }
  }
  return undefined
}

/** Whether an entry of NO_PROXY covers the URL. An address is compared with addresses only. */
function covers(entry: string, { protocol, hostname, port }: URL): boolean {
  if (entry === '*') return true
  const [, bracketed, plain = '', ofPort] = /^(?:\[(.+)\]|(.*?))(?::(\d+))?$/.exec(withBrackets(entry)) ?? []
  const isPort = ofPort === undefined || ofPort === (port === '' ? (protocol === 'https:' ? '443' : '80') : port)
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (!isPort) return false
  if (isIP(host) !== 0) return coversAddress(bracketed ?? plain, host)
  const name = plain
    .toLowerCase()
    .replace(/^\*?\./, '')
    .replace(/\.$/, '')
  return name !== '' && (host === name || host.endsWith(`.${name}`))
}

/** Puts brackets around an IPv6 address without them. */
function withBrackets(entry: string): string {
  return !entry.startsWith('[') && entry.split(':').length > 2 ? `[${entry}]` : entry
}

function coversAddress(entry: string, host: string): boolean {
  const [address = '', bits, ...rest] = entry.split('/')
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  const most = family === 'ipv6' ? 128 : 32
  if (isIP(address) === 0 || rest.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return false
  if (Number(bits ?? most) > most) return false
  const list = new BlockList()
  list.addSubnet(address, Number(bits ?? most), family)
  return list.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4')
}

/** How a provider is reached, beside its address. */
interface Way {
  readonly facts: Pick<ProviderConfig, 'proxy' | 'tls'>
  readonly lacks: readonly Lack[]
  /** Names in the environment that it was read from. */
  readonly names: readonly string[]
}

/** @param baseUrl empty: the provider is reached nowhere */
export function resolveWay(entry: ParsedProvider, baseUrl: string, environment: Environment): Way {
  if (baseUrl === '') return { facts: {}, lacks: [], names: [] }
  const proxy = resolveProxy(entry.proxy, baseUrl, environment)
  const certificates = Object.entries(entry.tls ?? {}).map(
    ([member, file]) => [member, resolveFile(file, environment, isPem)] as const,
  )
  const resolved = [...(proxy === undefined ? [] : [proxy]), ...certificates.map(([, each]) => each)]
  const parsed = proxy?.value === undefined ? undefined : parseProxy(proxy.value)
  const tls = certificates.flatMap(([member, { value }]) => (value === undefined ? [] : [[member, value] as const]))
  return {
    facts: { ...(parsed && { proxy: parsed }), ...(entry.tls && { tls: Object.fromEntries(tls) }) },
    lacks: resolved.flatMap(({ lack }) => lack ?? []),
    names: resolved.flatMap(({ name }) => name ?? []),
  }
}

/** The text of the proxy's address: of the entry, else of the variables that name proxies. */
function resolveProxy(text: string | undefined, baseUrl: string, environment: Environment): Resolved | undefined {
  if (text === 'none') return undefined
  const isUsable = (value: string): boolean => parseProxy(value) !== undefined
  const file = keyFilePattern.exec(text ?? '')?.[1]
  if (file !== undefined) return resolveFile(file, environment, isUsable)
  const variable = text === undefined ? proxyVariable(new URL(baseUrl), environment) : variablePattern.exec(text)?.[1]
  const name = variable === undefined ? {} : { name: variable }
  const value = variable === undefined ? text : readVariable(environment, variable)
  if (value === undefined)
    return variable === undefined ? undefined : { ...name, lack: { code: 'unset', variables: [variable] } }
  return isUsable(value) ? { ...name, value } : { ...name, lack: { code: 'invalid', variables: [variable ?? 'proxy'] } }
}
