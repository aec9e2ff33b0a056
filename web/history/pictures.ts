import type { IDBPObjectStore, StoreNames } from 'idb'
import { isRecord } from '../../src/wire/json-value.ts'
import type { ImageAttachment } from './conversation.ts'
import type { HistorySchema } from './database.ts'

type Mode = 'readonly' | 'readwrite'
type Pictures<How extends Mode> = IDBPObjectStore<HistorySchema, StoreNames<HistorySchema>[], 'pictures', How>

/**
 * An image as it lies in a body: what it shows is kept beside, so that it is written once and not with every change of
 * the body.
 */
export type KeptImage = Omit<ImageAttachment, 'dataUrl'>

/** Without what is kept beside. */
export function keptImage({ id, name, width, height }: ImageAttachment): KeptImage {
  return { id, name, width, height }
}

/** The pictures of one owner. An array comes after every text. */
export function rangeOf(owner: string): IDBKeyRange {
  return IDBKeyRange.bound([owner], [owner, []])
}

/** Keeps these pictures of the owner, and no others. */
export async function keepPictures(
  store: Pictures<'readwrite'>,
  owner: string,
  images: readonly ImageAttachment[],
): Promise<void> {
  const wanted = new Map(images.map(({ id, dataUrl }) => [id, dataUrl]))
  const there = new Set((await store.getAllKeys(rangeOf(owner))).map(([, id]) => id))
  await Promise.all([
    ...[...there].filter((id) => !wanted.has(id)).map((id) => store.delete([owner, id])),
    ...[...wanted].filter(([id]) => !there.has(id)).map(([id, dataUrl]) => store.put(dataUrl, [owner, id])),
  ])
}

/** What the pictures of the owner show, by their ids. */
export async function readPictures(store: Pictures<Mode>, owner: string): Promise<ReadonlyMap<string, unknown>> {
  const [keys, urls] = await Promise.all([store.getAllKeys(rangeOf(owner)), store.getAll(rangeOf(owner))])
  return new Map(keys.map(([, id], index) => [id, urls[index]]))
}

/** The images of a body with what they show. Whatever is no image stays as it is. */
export function withPictures(images: unknown, urls: ReadonlyMap<string, unknown>): unknown {
  if (!Array.isArray(images)) return images
  return images.map((each: unknown) =>
    isRecord(each) && typeof each['id'] === 'string' ? { ...each, dataUrl: urls.get(each['id']) } : each,
  )
}
