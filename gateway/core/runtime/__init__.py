"""What a process does beside requests: tasks, threads, memory and caches."""
