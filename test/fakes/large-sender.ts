/**
 * Process that sends chat requests of some 20 MB, one after the other: `large-sender.ts URL COUNT`. Prints each status.
 */
const [url = '', count = '1'] = process.argv.slice(2)
const image = `data:image/png;base64,${'iVBORw0KGgo'.repeat(1_900_000)}`
const body = JSON.stringify({
  model: 'large',
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'what is this?' },
        { type: 'image_url', image_url: { url: image } },
      ],
    },
  ],
})

for (let round = 0; round < Number(count); round++) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  await response.text()
  console.log(response.status)
}

export {}
