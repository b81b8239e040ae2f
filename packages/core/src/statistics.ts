// What a place has counted of its own traffic. Counters only grow, until the place or the object is made anew.

export interface Statistics {
  /** Absent where nobody counts requests. */
  listener?: ListenerStatistics | undefined;
  /** By pool name, as they were asked for. */
  pools: Record<string, PoolStatistics>;
}

export interface ListenerStatistics {
  requests: number;
  /** Answered with 5xx. */
  errors: number;
  /** Not answered: broken off, or under way still. */
  unanswered: number;
  /** Client connections now. No more requests than these can be under way. */
  open: number;
}

export interface PoolStatistics {
  /** HTTP requests that its members got. */
  requests: number;
  connections: number;
  /** Members that are to be used, drained and disabled ones left out. */
  members: number;
  /** Of these, those that are up, or that nobody watches. */
  available: number;
}

/** Which listener of which load balancer, and which of its pools. */
export interface StatisticsQuestion {
  key: string;
  listener: string;
  pools: readonly string[];
}
