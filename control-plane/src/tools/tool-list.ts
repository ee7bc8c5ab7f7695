import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Role, type Tool, toTool } from '@parley/contract'
import { mayCall, type Route } from '../pipeline/route.ts'

/**
 * The operations as MCP tools, and the tools that each role may call. A tool's JSON Schemas are derived at the first
 * request for the list: deriving all of them takes a quarter of a second of CPU, and most processes list none.
 */
export class ToolList {
  readonly #routes: readonly Route[]
  readonly #byName: ReadonlyMap<string, Route>
  readonly #tools = new Map<Route, Tool>()

  constructor(routes: readonly Route[]) {
    this.#routes = routes.filter(({ operation }) => operation.tool !== null)
    this.#byName = new Map(this.#routes.map(route => [route.operation.tool!, route]))
  }

  routeOf(name: unknown): Route | null {
    return (typeof name === 'string' && this.#byName.get(name)) || null
  }

  /** In the order of the routes. */
  async allowedFor(role: Role): Promise<readonly Tool[]> {
    const tools: Tool[] = []
    for (const route of this.#routes) if (mayCall(role, route)) tools.push(await this.#tool(route))
    return tools
  }

  /** Live calls share this thread: it serves them between two tools. */
  async #tool(route: Route): Promise<Tool> {
    const known = this.#tools.get(route)
    if (known !== undefined) return known
    await nextTurn()
    const tool = toTool(route.operation)!
    this.#tools.set(route, tool)
    return tool
  }
}
