import type { Exchange, Script } from '../../test/fakes/fault-upstream.ts'
import { kindsOf } from '../../test/fakes/faults/fault.ts'
import { good, isStream } from '../../test/fakes/good.ts'
import { faults } from '../../test/fakes/modes.ts'
import { chunk, event, framed, streamHead, tokens } from '../../test/fakes/replies.ts'

/** Script of an unreliable provider: 85 % good answers, 10 % random faults, 5 % cuts inside the requested text. */
export function unreliable(): Script {
  const quickOnes = faults.filter(({ name }) => !/2-GB|33-MiB|gzip/.test(name))
  const suitable = [false, true].map((stream) =>
    quickOnes.flatMap((fault) => (fault.script !== undefined && kindsOf(fault).includes(stream) ? [fault.script] : [])),
  )
  return async (exchange) => {
    const draw = Math.random()
    if (draw < 0.85) return await good({ pauseMs: 3 })(exchange)
    if (draw >= 0.95) return await cutInside(exchange)
    const scripts = suitable[isStream(exchange) ? 1 : 0] ?? []
    await scripts[Math.floor(Math.random() * scripts.length)]?.(exchange)
  }
}

/** Sends the first tokens of the requested text, and then resets or closes the connection. */
async function cutInside(exchange: Exchange): Promise<void> {
  const name = /stream=([\w-]+)/.exec(new TextDecoder().decode(exchange.hit.body))?.[1]
  if (name === undefined) return exchange.reset()
  await exchange.write(
    Buffer.concat([Buffer.from(streamHead), ...tokens(3, name).map((text) => framed(event(chunk({ content: text }))))]),
  )
  await exchange.pause(5)
  if (Math.random() < 0.5) exchange.reset()
  else exchange.close()
}
