/** Words in the names of models that do not chat but embed, draw, speak, transcribe, rank or judge. */
const otherPurposes = new RegExp(
  [
    'embed',
    'moderation',
    'rerank',
    'whisper',
    'dall-?e',
    'stable-?diffusion',
    'realtime',
    'transcri',
    'babbage',
    'davinci',
    'minilm',
    'diarize',
    // Short or common words match only at the beginning of a word: "democracy" has "ocr" in it.
    String.raw`(?<![a-z])(?:tts|image|imagen|video|veo|sora|audio|speech|guard|guardian|ocr|bge|gte)(?![a-z])`,
    String.raw`(?<![a-z])(?:e5|colbert|clip|flux|sdxl|lyria|aqa)(?![a-z])`,
  ].join('|'),
  'i',
)

/** Whether a model answers chats, judged by its name. Model lists also hold models that embed, draw or transcribe. */
export function isChatModel(name: string): boolean {
  return !otherPurposes.test(name)
}

/** The default model: the first that chats ({@link isChatModel}), else the first. */
export function firstChatModel<Model extends { readonly name: string }>(models: readonly Model[]): Model | undefined {
  return models.find(({ name }) => isChatModel(name)) ?? models[0]
}
