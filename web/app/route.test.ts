import { describe, expect, test } from 'bun:test'
import { hrefOf, parseHash, type Route } from './route.ts'

describe('a route', () => {
  test.each<readonly [string, Route]>([
    ['', { view: 'chat' }],
    ['#', { view: 'chat' }],
    ['#/', { view: 'chat' }],
    ['#/chat', { view: 'chat' }],
    ['#/chat/', { view: 'chat' }],
    ['#/chat/a-1', { view: 'chat', id: 'a-1' }],
    ['#/compare', { view: 'compare' }],
    ['#/providers', { view: 'providers' }],
    ['#/providers/add', { view: 'providers', id: 'add' }],
    ['#/requests', { view: 'requests' }],
    ['#/requests/x', { view: 'requests', id: 'x' }],
    ['#/requests/a.b_c-1', { view: 'requests', id: 'a.b_c-1' }],
    ['#/requests?status=ok', { view: 'requests' }],
    ['#/requests/', { view: 'requests' }],
    ['#/chat/a.b', { view: 'chat' }],
    ['#/usage', { view: 'usage' }],
    ['#/keys', { view: 'keys' }],
    ['#/limits', { view: 'limits' }],
    ['#/audit', { view: 'audit' }],
    ['#/nothing', { view: 'chat' }],
    ['#/constructor', { view: 'chat' }],
    ['#/chat/<b>', { view: 'chat' }],
    ['#main', { view: 'chat' }],
  ])('of %p is %p', (hash, route) => {
    expect(parseHash(hash)).toEqual(route)
  })

  test.each<Route>([
    { view: 'chat' },
    { view: 'chat', id: 'x_1' },
    { view: 'providers' },
    { view: 'providers', id: 'add' },
    { view: 'requests' },
    { view: 'requests', id: 'x.y' },
  ])('%p is read from its own link', (route) => {
    expect(parseHash(hrefOf(route))).toEqual(route)
  })
})
