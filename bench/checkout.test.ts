import { expect, test } from 'bun:test'
import { checkoutOf } from './checkout.ts'

test('checkoutOf fails when its variable names no checkout', async () => {
  await expect(checkoutOf('BENCH_TEST_NO_SUCH_SRC')).rejects.toThrow('BENCH_TEST_NO_SUCH_SRC names no checkout')
})
