import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { Exchange, Script } from '../../test/fakes/fault-upstream.ts'
import { reply } from '../../test/fakes/replies.ts'
import { python } from './install.ts'

/** Chat templates that refuse the same requests as those of these families of models (`templates/`). */
export const templates = ['qwen', 'gemma', 'mistral'] as const

/** llama.cpp with a template. */
export interface TemplateServer {
  /** Sends the server's refusal where it refuses a request; `script` answers the others. */
  strict(script: Script): Script
  /** Requests that it has refused. */
  readonly refusals: readonly string[]
  stop(): void
}

/** Starts llama.cpp in a process of its own. */
export async function templateServer(template: (typeof templates)[number]): Promise<TemplateServer> {
  const program = join(import.meta.dir, 'python', 'template_server.py')
  const child = Bun.spawn([python, program, join(import.meta.dir, 'templates', `${template}.jinja`)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const [url] = await Array.fromAsync(firstLine(child.stdout))
  if (url === undefined) throw new Error('llama.cpp did not start')
  const refusals: string[] = []
  return {
    strict: (script) => async (exchange: Exchange) => {
      const answer = await fetch(`${url}/apply-template`, { method: 'POST', body: exchange.hit.body })
      if (answer.ok) return script(exchange)
      const said = await answer.text()
      refusals.push(said)
      return exchange.write(reply(answer.status, said))
    },
    refusals,
    stop: () => child.kill(),
  }
}

async function* firstLine(output: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  for await (const line of createInterface({ input: Readable.fromWeb(output) })) {
    yield line
    return
  }
}
