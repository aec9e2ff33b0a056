import { describe, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { HomeError } from '../base/user-home.ts'
import { findHome } from './home.ts'

describe('findHome', () => {
  test.each([
    [{ HOME: '/home/ada' }, '/home/ada/.svc'],
    [{ HOME: '', USERPROFILE: '/users/ada' }, '/users/ada/.svc'],
    [{ HOME: '/home/ada', SVC_HOME: '/srv/svc' }, '/srv/svc'],
    [{ HOME: '/home/ada', SVC_HOME: '' }, '/home/ada/.svc'],
    [{ HOME: '/home/ada', SVC_HOME: '~/svc' }, '/home/ada/svc'],
    [{ SVC_HOME: 'here' }, resolve('here')],
  ])('for %p is %s', (environment, folder) => {
    expect(findHome(environment)).toEqual({
      folder,
      providers: `${folder}/providers.json`,
      modelsCache: `${folder}/cache/models`,
      keysEnv: `${folder}/keys.env`,
      prices: `${folder}/prices.json`,
      fetchedPrices: `${folder}/prices.fetched.json`,
      presets: `${folder}/presets.json`,
      access: `${folder}/access.json`,
      ledger: `${folder}/svc.db`,
      lastConversation: `${folder}/chat/last.json`,
      logins: `${folder}/logins.json`,
      keysCache: `${folder}/keys.cache`,
      sockets: `${folder}/run`,
    })
  })

  test('has what svc can make again elsewhere, by SVC_CACHE', () => {
    expect(findHome({ SVC_HOME: '/srv/svc', SVC_CACHE: '/cache' })).toMatchObject({
      modelsCache: '/cache/models',
      keysCache: '/cache/keys.cache',
      ledger: '/srv/svc/svc.db',
    })
    expect(() => findHome({ SVC_HOME: '/srv/svc', SVC_CACHE: '~' })).toThrow('SVC_CACHE is "~"')
  })

  test.each([{}, { HOME: '' }, { HOME: 'not/absolute' }, { SVC_HOME: '~/svc' }])(
    'says what to do when it is unknown: %p',
    (environment) => {
      expect(() => findHome(environment)).toThrow(HomeError)
      expect(() => findHome(environment)).toThrow(/SVC_HOME/)
    },
  )
})
