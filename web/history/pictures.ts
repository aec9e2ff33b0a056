import type { IDBPObjectStore, StoreNames } from 'idb'
import { isRecord } from '../../src/base/json-value.ts'
import type { ImageAttachment } from './conversation.ts'
import type { HistorySchema } from './database.ts'

type Mode = 'readonly' | 'readwrite'
type Pictures<How extends Mode> = IDBPObjectStore<HistorySchema, StoreNames<HistorySchema>[], 'pictures', How>

/** An image without its data, as stored in a body. The data is stored separately, so it is written once. */
export type StoredImage = Omit<ImageAttachment, 'dataUrl'>

/** Removes the data of an image. */
export function withoutData({ id, name, width, height }: ImageAttachment): StoredImage {
  return { id, name, width, height }
}

/** Keys of the images of one owner. Arrays sort after strings. */
export function keysOf(owner: string): IDBKeyRange {
  return IDBKeyRange.bound([owner], [owner, []])
}

/** Writes the images of an owner, and removes others. */
export async function writePictures(
  store: Pictures<'readwrite'>,
  owner: string,
  images: readonly ImageAttachment[],
): Promise<void> {
  const wanted = new Map(images.map(({ id, dataUrl }) => [id, dataUrl]))
  const there = new Set((await store.getAllKeys(keysOf(owner))).map(([, id]) => id))
  await Promise.all([
    ...[...there].filter((id) => !wanted.has(id)).map((id) => store.delete([owner, id])),
    ...[...wanted].filter(([id]) => !there.has(id)).map(([id, dataUrl]) => store.put(dataUrl, [owner, id])),
  ])
}

/** Reads the data URLs of an owner's images by id. */
export async function readPictures(store: Pictures<Mode>, owner: string): Promise<ReadonlyMap<string, unknown>> {
  const [keys, urls] = await Promise.all([store.getAllKeys(keysOf(owner)), store.getAll(keysOf(owner))])
  return new Map(keys.map(([, id], index) => [id, urls[index]]))
}

/** Adds the data to the images of a body. Invalid entries stay as they are. */
export function withPictures(images: unknown, urls: ReadonlyMap<string, unknown>): unknown {
  if (!Array.isArray(images)) return images
  return images.map((each: unknown) =>
    isRecord(each) && typeof each['id'] === 'string' ? { ...each, dataUrl: urls.get(each['id']) } : each,
  )
}
