import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

const colours = [
  ...readFileSync(new URL('./code.css', import.meta.url), 'utf8').matchAll(
    /(--code-[a-z]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g,
  ),
]
const style = readFileSync(new URL('../style.css', import.meta.url), 'utf8')

function background(name: string): readonly [light: string, dark: string] {
  const match = new RegExp(`--${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`).exec(style)
  if (match === null) throw new Error(`No --${name} in style.css`)
  return [match[1] ?? '', match[2] ?? '']
}

/** Relative luminance (WCAG 2.2). */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((offset) => Number.parseInt(colour.slice(offset, offset + 2), 16) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05)
}

describe('colours of code', () => {
  test('are ten', () => {
    expect(colours).toHaveLength(10)
  })

  test.each(
    colours.flatMap(([, name = '', light = '', dark = '']) =>
      ['page', 'panel', 'raised'].map((place): [string, string, string, string] => [name, place, light, dark]),
    ),
  )('%s is readable on %s', (_name, place, light, dark) => {
    const [lightBackground, darkBackground] = background(place)
    expect(contrast(light, lightBackground)).toBeGreaterThanOrEqual(4.5)
    expect(contrast(dark, darkBackground)).toBeGreaterThanOrEqual(4.5)
  })
})
