/**
 * What crosses the wall, by direction. Types only: the guest is compiled without Node types,
 * so this file names nothing of Node. Guards and the frame codec are in protocol.ts.
 */

/** Budgets that the guest itself keeps; the host keeps all of them again. */
export interface GuestLimits {
  /** Console lines plus value or diagnostic, in bytes of JSON. */
  readonly maxOutputBytes: number
  /** Console lines of one run. */
  readonly maxConsoleLines: number
  /** One value out of the program (arguments of a call, the result), in bytes of JSON. */
  readonly maxMessageBytesOut: number
  /** Calls of one run. */
  readonly maxSubCalls: number
}

/** One group of bindings as the guest installs it. */
export interface GuestNamespace {
  readonly global: string
  /** Raw names, shorter ones first: a prefix such as `math` must stand before `math.sum`. */
  readonly names: readonly string[]
  /** Class of rejections; `memberNameProperty` holds the raw name of the function. */
  readonly errorClass: { readonly name: string; readonly memberNameProperty: string }
}

/** Everything a guest needs to start one program. */
export interface GuestStart {
  /** JavaScript body of an async function. */
  readonly code: string
  /** Name that stack frames of the program carry. */
  readonly filename: string
  readonly namespaces: readonly GuestNamespace[]
  readonly limits: GuestLimits
}

/**
 * Host to guest: the settled calls of one delivery. With `tagged`, the value holds numbers that a
 * double cannot: every string of it is then prefixed `s:`, every such number is a string `n:<token>`.
 */
export type GuestReply =
  | { readonly id: number; readonly ok: true; readonly tagged?: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly error: GuestReplyError }

/** How a rejected call reads inside the program. */
export interface GuestReplyError {
  readonly message: string
  readonly code?: string
  readonly retryable?: boolean
}

/** Guest to host, in the order in which things happened. */
export type GuestItem =
  | {
      readonly type: 'call'
      readonly id: number
      readonly global: string
      readonly name: string
      readonly args: unknown
    }
  | { readonly type: 'log'; readonly level: string; readonly text: string }
  | { readonly type: 'done'; readonly value?: unknown }
  | { readonly type: 'failed'; readonly failure: GuestFailure }

/** Why a program ended without a value. */
export type GuestFailure =
  | {
      readonly kind: 'exception'
      readonly name: string
      readonly message: string
      /** Stack text of the program's realm; untrusted, bounded. */
      readonly stack?: string
      readonly code?: string
      /** Raw name of the tool whose failure was thrown. */
      readonly toolName?: string
    }
  | { readonly kind: 'invalid-output'; readonly message: string }
  | { readonly kind: 'output-limit'; readonly message: string }

/**
 * Host to child. A `run` carries GuestStart as payload, `replies` an array of GuestReply.
 * `seq` counts the messages of one run, so that an `idle` names what it has seen.
 */
export type HostMessage =
  | {
      readonly type: 'run'
      readonly run: number
      readonly seq: number
      readonly memoryMb: number
      readonly cpuMs: number
    }
  | { readonly type: 'replies'; readonly run: number; readonly seq: number }
  /** The run is over: dispose its isolate, whatever it does, and answer `released`. */
  | { readonly type: 'end'; readonly run: number; readonly seq: number }

/** Child to host. `items` carries an array of GuestItem as payload. */
export type ChildMessage =
  | { readonly type: 'ready' }
  /** The child enters the isolate on its own account: a timer is due. */
  | { readonly type: 'active'; readonly run: number }
  | { readonly type: 'items'; readonly run: number }
  /** Nothing runs inside; everything up to `seq` was delivered; `hasTimer` says that a timer is pending. */
  | { readonly type: 'idle'; readonly run: number; readonly seq: number; readonly hasTimer: boolean }
  /** A promise of the program rejected and nothing handled it. */
  | { readonly type: 'unhandled'; readonly run: number; readonly message: string }
  /** The isolate is gone: over its memory, over its compute budget, or broken. */
  | { readonly type: 'died'; readonly run: number; readonly reason: DeathReason }
  /** The finished run's isolate is disposed; the child can take the next one. */
  | { readonly type: 'released'; readonly run: number }

/** Why an isolate ended before its program did. */
export type DeathReason = 'memory' | 'cpu' | 'broken'
