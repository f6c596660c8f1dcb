// A client that can lead its user to a page, but not show a form: the user answers in the console.
import { assert, load, NOTES, ran, same, signedIn, started, withPage } from './console_kit.mjs'
import { pathToFileURL } from 'node:url'

const from = async (name) => import(pathToFileURL(load.resolve(`@modelcontextprotocol/sdk/${name}`)))
const ARGUMENTS = { file: 'Plan.md', find: 'leaks', replace: 'holds' }
const DONE = NOTES['Plan.md'].replace('leaks', 'holds')

async function withServer(place, run) {
  const heard = (said) => said.match(/serving MCP at (http:\/\/[^/\s]+)\//)?.[1]
  const server = await started(['serve', '--http', '127.0.0.1:0', '--vault', place.vault], place.env, heard)
  try {
    const link = ran(['console', '--no-browser', '--vault', place.vault], place.env).out.trim()
    await run({ ...place, origin: server.link, link })
  } finally {
    await server.stop()
  }
}

// The user, in a browser.
async function answer(server, url, button) {
  await withPage(server, {}, async (page) => {
    await signedIn(server, page)
    await page.goto(url)
    await page.getByRole('button', { name: button }).click()
    await page.getByRole('heading', { name: /Approved|Rejected/ }).waitFor()
  })
}

export const tests = {
  async 'a client with a session is answered when the owner has decided'(place) {
    const { Client } = await from('client/index.js')
    const { StreamableHTTPClientTransport } = await from('client/streamableHttp.js')
    const { ElicitRequestSchema } = await from('types.js')
    await withServer(place, async (server) => {
      const client = new Client({ name: 'leads', version: '1' }, { capabilities: { elicitation: { url: {} } } })
      const asked = []
      client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
        asked.push(params)
        // The user goes there; what happens on the page is no part of the answer.
        void answer(server, params.url, 'Approve what is shown').catch((error) => asked.push(error))
        return { action: 'accept' }
      })
      await client.connect(new StreamableHTTPClientTransport(new URL(`${server.origin}/mcp`)))
      const result = await client.callTool({ name: 'str_replace', arguments: ARGUMENTS }, undefined, { timeout: 120_000 })
      same(asked.length, 1, `asked once: ${asked.join()}`)
      same(asked[0].mode, 'url', 'by a page')
      assert(asked[0].url.startsWith(`${server.origin}/console/approvals/`), asked[0].url)
      assert(!result.isError && JSON.stringify(result).includes('The owner approved it'), JSON.stringify(result))
      same(server.read('Plan.md'), DONE, 'changed')
      await client.close()
    })
  },
  async 'a client that calls again gets the answer then'(place) {
    await withServer(place, async (server) => {
      const call = async (more) => {
        const meta = {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'leads', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } },
        }
        const params = { name: 'str_replace', arguments: ARGUMENTS, _meta: meta, ...more }
        const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'str_replace' }
        const reply = await fetch(`${server.origin}/mcp`, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }) })
        const text = await reply.text()
        return JSON.parse(text.startsWith('{') ? text : text.match(/^data: (\{.*)$/m)[1]).result
      }
      const asked = await call({})
      same(asked.resultType, 'input_required', JSON.stringify(asked))
      const [[key, question]] = Object.entries(asked.inputRequests)
      same(question.params.mode, 'url', 'by a page')
      const again = { requestState: asked.requestState, inputResponses: { [key]: { action: 'accept' } } }
      // Too early: it is not asked for a second time.
      const early = await call(again)
      assert(early.isError && JSON.stringify(early).includes('approval_pending'), JSON.stringify(early))
      await answer(server, question.params.url, 'Approve what is shown')
      const done = await call(again)
      assert(!done.isError && JSON.stringify(done).includes('The owner approved it'), JSON.stringify(done))
      same(server.read('Plan.md'), DONE, 'changed')
    })
  },
}
