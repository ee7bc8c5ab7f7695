/** A run that can be created: agent and called number. */
interface ReadyCall {
  /** Base URL of the API. */
  readonly api: string
  readonly key: string
  readonly agentId: string
  /** E.164. */
  readonly to: string
}

/**
 * What `npm start` says of the built-in phone: a command for any POSIX shell, on one line, that places a call to it, a new
 * one each time, and how to follow the run.
 */
export function aboutReadyCall({ api, key, agentId, to }: ReadyCall): string[] {
  const body = JSON.stringify({ agent_id: agentId, channel: 'phone', mode: 'outbound', to })
  const headers = [`-H 'Authorization: Bearer ${key}'`, `-H "Idempotency-Key: call-$(date +%s)-$$"`]
  return [
    `A call to the built-in phone, which answers ${to} as somebody who wants an appointment:`,
    `  curl ${headers.join(' ')} -H 'Content-Type: application/json' -d '${body}' ${api}/api/v1/runs`,
    '',
    'It answers with the run; by its run_id you see and read how the call goes on:',
    '  npx parley runs follow RUN_ID',
    '',
  ]
}
