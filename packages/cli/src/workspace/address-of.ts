/** Host and port of a server on this machine, as an entry of the addresses that HTTP actions may reach. */
export function addressOf(server: { readonly origin: string }): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(server.origin)
  return { host: hostname, port: Number(port) }
}
