"""Which endpoint answers a judgement at upstreams with an adapter."""

from inference.interface.plan import Endpoints
from inference.models import Upstream
from judgement.vendors.demo import DemoJudgement
from judgement.vendors.judgement import JudgementProtocol
from judgement.vendors.openai import JudgementOverChat

Adapter = Upstream.Adapter

ENDPOINTS: Endpoints = {
    Adapter.DEMO: DemoJudgement(),
    Adapter.JUDGEMENT: JudgementProtocol(),
    Adapter.OPENAI: JudgementOverChat(),
}
