import { useEffect, useRef, type ReactNode } from 'react'
import { createRoot } from 'react-dom/client'
import { Markdown } from '../../web/markdown/markdown.tsx'
import { createStore, useStore } from '../../web/store.ts'
import { documents } from './stream-documents.ts'

/** Measurements while a document was streamed, in milliseconds. */
export interface StreamMeasure {
  /** Intervals of animation frames. */
  readonly frames: readonly number[]
  /** Time of each frame on the main thread: scripts, styles, layout and painting. */
  readonly work: readonly number[]
  /** Tasks above 50 ms. */
  readonly longTasks: readonly number[]
  /** Elements at the end. */
  readonly elements: number
}

const shown = createStore({ text: '', isStreaming: true })

/** Draws the answer as the chat does: at most once a frame, with its end in view. */
function Answer(): ReactNode {
  const { text, isStreaming } = useStore(shown),
    box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight
  }, [text])
  return (
    <div ref={box} className="h-full overflow-y-auto">
      <main className="mx-auto max-w-3xl p-4">
        <Markdown text={text} isStreaming={isStreaming} />
      </main>
    </div>
  )
}

/** Streams a document at a rate of chunks, and measures until it is shown with its colours. */
async function measureStream(
  name: string,
  characters: number,
  chunkCharacters: number,
  chunksPerSecond: number,
): Promise<StreamMeasure> {
  const text = documents[name]?.(characters) ?? '',
    frames: number[] = [],
    work: number[] = [],
    longTasks: number[] = []
  shown.set({ text: '', isStreaming: true })
  await new Promise((resolve) => setTimeout(resolve, 300))
  const observer = new PerformanceObserver((list) =>
    longTasks.push(...list.getEntries().map(({ duration }) => duration)),
  )
  observer.observe({ type: 'longtask' })
  const begin = performance.now()
  let before = begin,
    isOver = false,
    endedAt = 0
  const channel = new MessageChannel()
  let frameBegan = 0
  channel.port1.addEventListener('message', () => work.push(performance.now() - frameBegan))
  channel.port1.start()

  function frame(): void {
    const now = performance.now()
    frames.push(now - before)
    before = now
    frameBegan = now
    const arrived = Math.floor(((now - begin) / 1000) * chunksPerSecond) * chunkCharacters
    if (arrived < text.length) shown.set({ text: text.slice(0, arrived), isStreaming: true })
    else if (endedAt === 0) {
      endedAt = now
      shown.set({ text, isStreaming: false })
    }
    // The message is delivered after layout and paint of this frame.
    channel.port2.postMessage(undefined)
    if (endedAt !== 0 && now - endedAt > 1_500) isOver = true
    else requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
  while (!isOver) await new Promise((resolve) => setTimeout(resolve, 100))
  observer.disconnect()
  return { frames: frames.slice(1), work, longTasks, elements: document.querySelectorAll('*').length }
}

const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<Answer />)
Object.assign(globalThis, { measureStream })
