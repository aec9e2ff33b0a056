import type { CommandContext } from '../src/base/command-line/command.ts'
import type { ChatMessage } from './chat/messages.ts'

/** New text of an answer. */
export interface AnswerPiece {
  readonly kind: 'text' | 'reasoning'
  readonly text: string
}

/** Tokens of an answer, with the names of chat completions. Counts that are not known are absent. */
export interface TokenUsage {
  readonly prompt_tokens?: number
  readonly completion_tokens?: number
  readonly total_tokens?: number
  readonly cached_tokens?: number
  readonly reasoning_tokens?: number
}

/** Facts about an answer. They are complete at its end. */
export interface ChatFacts {
  /** Id of the provider. */
  readonly provider: string | undefined
  /** The provider's name for the model. */
  readonly model: string | undefined
  readonly usage: TokenUsage | undefined
  /** Cost in USD. `undefined`: it is not known, as of a running service. */
  readonly costUsd: number | undefined
  /** The attempts, as `x-svc-trail` of docs/api.md has them. */
  readonly trail: string | undefined
}

/** An answer that arrives in pieces. */
export interface StreamedAnswer {
  /** @throws when the answer is cut */
  readonly pieces: AsyncIterable<AnswerPiece>
  facts(): ChatFacts
}

/** A question with the conversation before it. */
export interface ChatQuestion {
  readonly model: string
  readonly messages: readonly ChatMessage[]
}

/** Asks for `svc chat`: the gateway in this process, or a running service. */
export interface ChatClient {
  /**
   * Finds the first chat model, judging by names, in the order of providers; else the first model.
   *
   * @throws when no model is offered
   */
  defaultModel(signal: AbortSignal): Promise<string>
  /** Sends a request for a stream. @throws errors with a message for users */
  ask(question: ChatQuestion, signal: AbortSignal): Promise<StreamedAnswer>
}

/** An answer of a running service with status 200. */
export interface ServiceAnswer {
  readonly headers: { get(name: string): string | undefined }
  readonly body: {
    /** `undefined`: the end. */
    read(): Promise<Uint8Array | undefined>
    readAll(): Promise<Uint8Array>
    cancel(): void
  }
}

/** An answer to {@link ClientHost.form}. */
export interface FormAnswer {
  readonly status: number
  /** JSON; `undefined` for other content. */
  readonly value: unknown
}

/** Speaks HTTP with one service. */
export interface ServiceLink {
  /**
   * Sends a request.
   *
   * @param path below the base URL, beginning with `/`
   * @param body JSON for a POST request; `undefined`: a GET request
   * @throws {ServiceRefusal} with the service's own message, if it has one
   */
  ask(path: string, body: string | undefined, signal: AbortSignal): Promise<ServiceAnswer>
  close(): void
}

/** An edit of JSON with comments. */
export interface JsonEdit {
  readonly kind: 'set'
  readonly path: (string | number)[]
  readonly value: unknown
}

/** Makes edits in a text. */
export type JsonEditor = (text: string, edits: readonly JsonEdit[]) => string

type Environment = CommandContext['environment']

/**
 * The facilities of the program that holds the client, which knows nothing else of it: HTTP, files, and the providers
 * of this machine for a chat without a service.
 */
export interface ClientHost {
  /** @param token session token or key */
  connect(base: URL, token: string | undefined): Promise<ServiceLink>
  /** The JSON of a running service; `undefined` without an answer in time, and where it is closed to us. */
  answerIfRunning(
    path: string,
    service: {
      /** As the user gave it. Absent: the default. */
      readonly url: string | undefined
      readonly environment: Environment
      readonly signal: AbortSignal
      readonly timeoutMs: number
    },
  ): Promise<unknown>
  /** Opens the providers of a configuration. @param file default: the one of this machine @throws for its faults */
  openProviders(
    file: string | undefined,
    context: Pick<CommandContext, 'environment' | 'stderr'>,
  ): Promise<ChatClient & { close(): void }>
  /** Names in that configuration and in cached lists of models. @throws for its faults */
  providerNames(
    file: string | undefined,
    context: Pick<CommandContext, 'environment' | 'stderr'>,
  ): Promise<{ readonly models: readonly string[]; readonly providers: readonly string[] }>
  /**
   * Posts a form, and reads a small answer of any status. Redirects are not followed.
   *
   * @param form `undefined`: a GET request
   * @throws without an answer
   */
  form(url: URL, form: Readonly<Record<string, string>> | undefined, signal: AbortSignal): Promise<FormAnswer>
  /** @throws when the signal aborts */
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** The path of the tokens of `svc login`. @throws without a home folder */
  loginFile(environment: Environment): string
  /** The path of the last conversation. @throws without a home folder */
  lastConversation(environment: Environment): string
  /** Replaces a file atomically, readable by its owner only. @param before the text to be replaced; absent: any */
  writeFile(path: string, text: string, before?: { readonly text: string | undefined }): Promise<unknown>
  /** Loads a function that changes JSON, whose comments and other values stay. It throws for other texts. */
  jsonEditor(): Promise<JsonEditor>
}
