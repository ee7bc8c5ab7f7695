import { type Role, type Tool, toTool } from '@parley/contract'
import { mayCall, type Route } from '../pipeline/route.ts'

const ROLES = ['viewer', 'member', 'admin'] as const satisfies readonly Role[]

/** The operations as MCP tools, and the tools that each role may call. */
export class ToolList {
  readonly #byName: ReadonlyMap<string, Route>
  readonly #byRole: ReadonlyMap<Role, readonly Tool[]>

  constructor(routes: readonly Route[]) {
    const tools = routes.flatMap(route => {
      const tool = toTool(route.operation)
      return tool === null ? [] : [{ route, tool }]
    })
    this.#byName = new Map(tools.map(({ route, tool }) => [tool.name, route]))
    this.#byRole = new Map(
      ROLES.map(role => [role, tools.filter(({ route }) => mayCall(role, route)).map(({ tool }) => tool)]),
    )
  }

  routeOf(name: unknown): Route | null {
    return (typeof name === 'string' && this.#byName.get(name)) || null
  }

  allowedFor(role: Role): readonly Tool[] {
    return this.#byRole.get(role) ?? []
  }
}
