import type { Conversation } from './conversation.ts'

/** A conversation as people have them. For tests. */
export function conversationOf(changes: Partial<Conversation> = {}): Conversation {
  return {
    id: 'c1', title: 'Monads', isTitled: false, isPinned: false, created: 1_000, updated: 2_000,
    settings: { model: 'gpt', system: 'Be brief', parameters: { temperature: 0.5, stop: ['.'] } },
    messages: [
      { role: 'user', id: 'm1', time: 1_000, text: 'What is a monad?', images: [{ id: 'i1', name: 'a.png', dataUrl: 'data:image/png;base64,AAAA', width: 2, height: 3 }] },
      {
        role: 'assistant', id: 'm2', time: 2_000, text: 'A burrito.', reasoning: 'Hm', status: 'complete', finishReason: 'stop',
        logprobs: [{ token: 'A', logprob: -0.1, top: [{ token: 'The', logprob: -2 }] }],
        provenance: { requestId: 'r1', provider: 'openai', model: 'gpt-1', trail: [{ provider: 'groq', status: 429, failure: 'rate_limit', ms: 12 }, { provider: 'openai', status: 200, ms: 340 }], firstTokenMs: 100, totalMs: 400, promptTokens: 5, completionTokens: 3, cost: 0.001 },
      },
    ],
    ...changes,
  }
}
