/** A browser and its system, in known words. */
export interface Device {
  readonly browser?: string
  readonly system?: string
}

/** The first that matches counts: browsers name those that they imitate, too. */
const browsers = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS|Chromium)\//],
  ['Safari', /\bSafari\//],
  ['curl', /^curl\//],
] as const
const systems = [
  ['Android', /\bAndroid\b/],
  ['iOS', /\b(?:iPhone|iPad|iPod)\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b|\bMacintosh\b/],
  ['Linux', /\bLinux\b/],
] as const

/** Longer user agents are not searched further. */
const searchedMax = 512

/** The device that a user agent names; without members: an unknown one. */
export function deviceOf(userAgent: string | null): Device {
  const text = (userAgent ?? '').slice(0, searchedMax)
  const find = (known: readonly (readonly [string, RegExp])[]) => known.find(([, pattern]) => pattern.test(text))?.[0]
  const browser = find(browsers)
  const system = find(systems)
  return { ...(browser === undefined ? {} : { browser }), ...(system === undefined ? {} : { system }) }
}

/** The device that a store has, if it is one of {@link deviceOf}. */
export function parseDevice({ browser, system }: Readonly<Record<string, unknown>>): Device {
  const known = (of: readonly (readonly [string, RegExp])[], name: unknown) => of.find(([each]) => each === name)?.[0]
  const [knownBrowser, knownSystem] = [known(browsers, browser), known(systems, system)]
  return {
    ...(knownBrowser === undefined ? {} : { browser: knownBrowser }),
    ...(knownSystem === undefined ? {} : { system: knownSystem }),
  }
}
