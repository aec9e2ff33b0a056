import { describe, expect, test } from 'bun:test'
import { brandIds, brands, findBrand } from './catalogue.ts'
import { parseConfig } from './file/parse-config.ts'
import { baseUrlRule, idRule, modelNameRule } from './file/rules.ts'

describe('the catalogue', () => {
  test('contains each brand once', () => {
    expect(new Set(brandIds).size).toBe(brands.length)
    expect(brands.length).toBeGreaterThanOrEqual(24)
  })

  test('lists servers on this machine first, then free tiers, then paid brands', () => {
    const places = brands.map(({ port, freeTier }) => (port !== undefined ? 0 : freeTier !== undefined ? 1 : 2))
    expect(places).toEqual(places.toSorted())
    expect(places.filter((place) => place === 1).length).toBeGreaterThan(0)
  })

  test.each(brands.map((brand) => [brand.id, brand] as const))('describes %s well', (id, brand) => {
    expect(findBrand(id)).toBe(brand)
    expect(id).toMatch(idRule.pattern)
    expect(brand.name).not.toBe('')
    if (brand.protocol !== 'echo') {
      expect(brand.baseUrl).toMatch(baseUrlRule.pattern)
      expect(brand.baseUrl).not.toMatch(/^\$|\/$/)
      expect(new URL(brand.baseUrl).protocol).toBe(brand.port === undefined ? 'https:' : 'http:')
    }
    if (brand.port !== undefined) expect(new URL(brand.baseUrl).port).toBe(String(brand.port))
    for (const key of brand.keys) expect(key).toMatch(/^[A-Z][A-Z0-9_]*$/)
    expect(new Set(brand.keys).size).toBe(brand.keys.length)
    for (const model of brand.models ?? []) expect(model).toMatch(modelNameRule.pattern)
    if (brand.modelsPage !== undefined) expect(new URL(brand.modelsPage).protocol).toBe('https:')
    if (brand.freeTier !== undefined) expect(new URL(brand.freeTier).protocol).toBe('https:')
    expect(brand.sources.length).toBeGreaterThan(0)
  })

  test.each(brandIds)('configures %s by its id alone', (id) => {
    const { providers } = parseConfig(`{"providers":[{"id":"${id}"}]}`, { file: 'providers.json', environment: {} })
    const brand = findBrand(id)
    expect(providers[0]?.baseUrl).toBe(brand?.baseUrl ?? 'unknown')
    expect(providers[0]?.unavailable === undefined).toBe(brand?.keys.length === 0)
  })
})
